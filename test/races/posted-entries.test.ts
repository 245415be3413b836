/** Requests of machines that post entries, at once. */
import { expect, inject, it } from 'vitest';
import { outcome, refusal, serviceForThisFile } from '../support/acceptance.ts';
import { makeMachine, postAs } from '../support/machines.ts';
import { entriesWith } from '../support/stored-items.ts';
import { count, times } from './at-once.ts';

const rounds = 20;
const { api, adminToken: token, environment } = await serviceForThisFile({ MACHINES: 'on' });
const machine = await makeMachine(api, token, ['audit:write']);

const entriesOf = (resource: string, number = 25) =>
  Array.from({ length: number }, (_, i) => ({
    ...{ action: 'CREATE', resource, result: 'SUCCESS', resourceId: String(i) },
  }));
const post = (key: string, entries: readonly object[], by = machine.key) =>
  postAs(api, by, key, entries);
/** The ids of the stored entries of a resource, in the order in which their request has them. */
const storedIds = async (resource: string) =>
  (await entriesWith(inject('engine'), environment.AUDIT_TABLE ?? '', { resource }))
    .toSorted((a, b) => Number(a.resource_id) - Number(b.resource_id))
    .map(({ id }) => id);
const idsIn = (body: { data: readonly { id: number }[] }) => body.data.map(({ id }) => id);

it('One request that is sent eight times at once stores its entries once, and one response is 201', async () => {
  for (let round = 0; round < rounds; round += 1) {
    const resource = `race.one-${round}`;

    const answers = await times(8, () => post(resource, entriesOf(resource)));

    expect([count(answers, 201), count(answers, 200)]).toEqual([1, 7]);
    const stored = await storedIds(resource);
    expect(stored).toHaveLength(25);
    for (const { body } of answers) expect(idsIn(body)).toEqual(stored);
  }
});

it('Of two contents that are sent at once with one key, one is stored whole and the other is refused', async () => {
  for (let round = 0; round < rounds; round += 1) {
    const resources = [`race.left-${round}`, `race.right-${round}`];

    const answers = await times(8, (i) =>
      post(`two-${round}`, entriesOf(String(resources[i % 2]), 5)),
    );

    const winner = answers.findIndex(({ status }) => status === 201) % 2;
    const [won, lost] = [0, 1].map((side) =>
      answers.filter((_, i) => (i % 2 === winner) === (side === 0)),
    ) as [typeof answers, typeof answers];
    expect([count(won, 201), count(won, 200)]).toEqual([1, 3]);
    const used = refusal(409, 'Idempotency key already used');
    expect(lost.map(outcome)).toEqual([used, used, used, used]);
    const stored = await storedIds(String(resources[winner]));
    for (const { body } of won) expect(idsIn(body)).toEqual(stored);
    expect(await storedIds(String(resources[1 - winner]))).toEqual([]);
  }
});

it('A key of a machine that is replaced under traffic loses and doubles no entry', async () => {
  const { id, key } = await makeMachine(api, token, ['audit:write']);
  let newest = key;
  for (let round = 0; round < 5; round += 1) {
    const [made, ...answers] = await Promise.all([
      api('POST', `/api/machines/${id}/keys`, { token, json: {} }),
      ...Array.from({ length: 7 }, (_, i) =>
        post(`${round}-${i}`, entriesOf(`race.traffic-${round}-${i}`, 3), newest),
      ),
    ]);

    expect(answers.map(({ status }) => status)).toEqual(Array(7).fill(201));
    newest = made.body.key;
    // The machine's new key repeats what was sent with the key before.
    for (const [i, { body }] of answers.entries()) {
      const again = await post(
        `${round}-${i}`,
        entriesOf(`race.traffic-${round}-${i}`, 3),
        made.body.key,
      );
      expect(outcome(again)).toEqual([200, body]);
      expect(idsIn(body)).toEqual(await storedIds(`race.traffic-${round}-${i}`));
    }
  }
});

it('A key that ends at once under traffic refuses whole requests, which the next key completes', async () => {
  const { id, key } = await makeMachine(api, token, ['audit:write']);

  const [made, ...answers] = await Promise.all([
    api('POST', `/api/machines/${id}/keys`, { token, json: { endPrevious: true } }),
    ...Array.from({ length: 7 }, (_, i) => post(`end-${i}`, entriesOf(`race.end-${i}`, 3), key)),
  ]);

  expect(count(answers, 201) + count(answers, 401)).toBe(7);
  for (const [i, { status }] of answers.entries()) {
    if (status === 401) expect(await storedIds(`race.end-${i}`)).toEqual([]);
    const again = await post(`end-${i}`, entriesOf(`race.end-${i}`, 3), made.body.key);
    expect(again.status).toBe(status === 401 ? 201 : 200);
    expect(idsIn(again.body)).toEqual(await storedIds(`race.end-${i}`));
  }
});
