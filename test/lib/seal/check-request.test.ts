import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { expect, it } from 'vitest';
import { send } from '../../../lib/dynamodb/client.ts';
import { config } from '../../../lib/ground/settings.ts';
import * as asked from '../../../lib/seal/check-request.ts';
import { useOwnTables } from '../../support/own-tables.ts';

await useOwnTables();

it('A mark asks for a check until a run that has read this mark removes it', async () => {
  expect(await asked.read()).toBeUndefined();

  expect([await asked.leave(), await asked.leave()]).toEqual([true, false]);
  const mark = (await asked.read()) ?? '';
  await asked.remove('another');
  expect(await asked.read()).toBe(mark);
  await asked.remove(mark);

  expect(await asked.read()).toBeUndefined();
  await asked.remove(mark);
  expect(await asked.leave()).toBe(true);
});

it.each([5, null, { a: 'b' }, undefined])(
  'A mark of %j, written by somebody else than the service, asks for one check too',
  async (mark) => {
    const Item = { pk: 'audit-seal-check', ...(mark === undefined ? {} : { mark }) };
    await send(new PutCommand({ TableName: config.usersTable, Item }));

    await asked.remove((await asked.read()) ?? '');

    expect(await asked.read()).toBeUndefined();
  },
);
