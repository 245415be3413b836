/** A request of a machine that is repeated late, while the store fails or another repetition overtakes it. */
import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { expect, inject, it } from 'vitest';
import { postEntries } from '../../../../lib/options/machines/post-entries.ts';
import { proxiedTablesForThisFile } from '../../../support/own-tables.ts';
import { faults, overtake } from '../../../support/proxy.ts';
import { engineClient, entriesWith } from '../../../support/stored-items.ts';

const { proxy, audit } = await proxiedTablesForThisFile();
const engine = engineClient(inject('engine'));
const begin = Date.UTC(2026, 10, 20);
let tails = 0;
/** Ends of ids that no other entry has. */
const random = (below: number) => {
  tails += 1;
  return tails % below;
};
/** A time in minutes after the first request. */
const at = (minutes: number) => ({ now: new Date(begin + minutes * 60_000), random });

let keys = 0;
/** A request that was stored, but for its second entry. */
const interruptedPost = async () => {
  keys += 1;
  const entries = ['1', '2', '3'].map(
    (resourceId) =>
      ({ action: 'CREATE', resource: 'shop.orders', result: 'SUCCESS', resourceId }) as const,
  );
  const post = { machine: 7, key: `key-${keys}`, entries, request_id: `request-${keys}` };
  const { stored } = await postEntries(post, at(0));
  const Key = { id: stored[1]?.id };
  await engine.send(new DeleteCommand({ TableName: audit, Key }));
  const idsInTable = async () =>
    (await entriesWith(inject('engine'), audit, { request_id: post.request_id }))
      .toSorted((a, b) => Number(a.resource_id) - Number(b.resource_id))
      .map(({ id }) => id);
  return { post, idsInTable };
};
const idsIn = ({ stored }: Awaited<ReturnType<typeof postEntries>>) => stored.map(({ id }) => id);

it('A new time whose first response is lost is written once', async () => {
  const { post, idsInTable } = await interruptedPost();
  proxy.impose({ fault: faults.lose, operation: 'UpdateItem', times: 1 });

  const late = await postEntries(post, at(12));

  expect(await idsInTable()).toEqual(idsIn(late));
  expect(late.stored[1]?.created_at).toBe(at(12).now.toISOString());
});

it.each([
  ['the entries cannot be read', { fault: faults.missingTable, operation: 'BatchGetItem' }, 13],
  ['the new time cannot be written', { fault: faults.missingTable, operation: 'UpdateItem' }, 13],
  [
    'the new time is written without a response',
    { fault: faults.lose, operation: 'UpdateItem' },
    12,
  ],
  [
    'the missing entry cannot be written',
    { fault: faults.missingTable, operation: 'PutItem', table: audit },
    12,
  ],
])('A late request is completed by another one where %s', async (_, rule, minutes) => {
  const { post, idsInTable } = await interruptedPost();
  proxy.impose(rule);

  await expect(postEntries(post, at(12))).rejects.toMatchObject({ code: 'STORAGE_FAULT' });
  proxy.impose();
  expect(await idsInTable()).toHaveLength(2);
  const again = await postEntries(post, at(13));

  expect(again.stored[1]?.created_at).toBe(at(minutes).now.toISOString());
  expect(await idsInTable()).toEqual(idsIn(again));
  expect(await postEntries(post, at(30))).toEqual(again);
});

it('A late request that another one overtakes has the ids that the other one has', async () => {
  const { post, idsInTable } = await interruptedPost();

  const [slow, fast] = await overtake(
    proxy,
    'UpdateItem',
    () => postEntries(post, at(12)),
    () => postEntries(post, at(13)),
  );

  expect(slow).toEqual(fast);
  expect(slow.stored[1]?.created_at).toBe(at(13).now.toISOString());
  expect(await idsInTable()).toEqual(idsIn(fast));
});
