import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { expect, it } from 'vitest';
import { Overtaken, send } from '../../../lib/dynamodb/client.ts';
import { config } from '../../../lib/ground/settings.ts';
import * as wholeCheck from '../../../lib/seal/whole-check.ts';
import { useOwnTables } from '../../support/own-tables.ts';

await useOwnTables();

const [minute, day] = [60_000, 86_400_000];
const start = Date.UTC(2026, 10, 22, 12);
const at = (milliseconds: number) => new Date(start + milliseconds);
const store = (item: object) =>
  send(new PutCommand({ TableName: config.usersTable, Item: { pk: 'audit-seal-whole', ...item } }));

/** An item as it is stored once a whole check is requested, without the time. */
const asked = {
  mark: 'a',
  first: 1,
  last: null,
  checked: 0,
  of: null,
  attempts: 0,
  ended_at: null,
};

it('A whole check is requested at most once a day, also if it has ended or the clock was ahead for a moment', async () => {
  expect(await wholeCheck.read()).toBeUndefined();
  await wholeCheck.ask(at(0));
  const refused = { code: 'WHOLE_CHECK_REQUESTED' };

  await expect(wholeCheck.ask(at(minute))).rejects.toMatchObject(refused);
  await expect(wholeCheck.ask(at(-minute))).rejects.toMatchObject(refused);
  const whole = (await wholeCheck.read()) as wholeCheck.WholeCheck;
  await wholeCheck.write({ ...whole, checked: 7, ended_at: at(minute).toISOString() });
  await expect(wholeCheck.ask(at(day - minute))).rejects.toMatchObject(refused);
  await wholeCheck.ask(at(day + 1));

  const next = await wholeCheck.read();
  const asked_at = at(day + 1).toISOString();
  expect(next).toEqual({ ...asked, mark: expect.any(String), asked_at });
  await store({ ...next, asked_at: at(400 * day).toISOString() });
  await wholeCheck.ask(at(2 * day));
  expect((await wholeCheck.read())?.asked_at).toBe(at(2 * day).toISOString());
});

it('Progress is written only by the run that wrote or read it last', async () => {
  await wholeCheck.ask(at(10 * day));
  const read = (await wholeCheck.read()) as wholeCheck.WholeCheck;

  const first = await wholeCheck.write({ ...read, last: 9, of: 9 });
  await expect(wholeCheck.write({ ...read, last: 5 })).rejects.toThrow(Overtaken);
  const second = await wholeCheck.write({ ...first, checked: 4 });

  expect(await wholeCheck.read()).toEqual(second);
  expect(second).toEqual({ ...read, mark: expect.any(String), last: 9, of: 9, checked: 4 });
  await wholeCheck.ask(at(11 * day + 1));
  await expect(wholeCheck.write(second)).rejects.toThrow(Overtaken);
});

it.each([
  {},
  { mark: 'a' },
  { ...asked, first: -1 },
  { ...asked, checked: 0.5 },
  { ...asked, last: '9' },
  { ...asked, of: 2n ** 60n },
  { ...asked, ended_at: '2026-11-31T00:00:00.000Z' },
  { mark: 5, asked_at: at(0).toISOString(), first: 'x' },
  { asked_at: 'some time', ended_at: { a: 1 } },
])(
  'An item %o that the service did not write counts for nothing, and does not refuse a request',
  async (item) => {
    await store({ asked_at: at(20 * day).toISOString(), ...item });

    expect(await wholeCheck.read()).toBeUndefined();
    await wholeCheck.ask(at(20 * day + minute));

    expect((await wholeCheck.read())?.asked_at).toBe(at(20 * day + minute).toISOString());
  },
);
