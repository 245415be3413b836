import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { makeEntry } from '../../../lib/audit/entry.ts';
import { toItem } from '../../../lib/audit/store.ts';
import { fillKeys } from '../../../lib/audit/upgrade.ts';
import { useOwnTables } from '../../support/own-tables.ts';
import { type Fault, faults, startProxy } from '../../support/proxy.ts';
import { engineClient, type Item, scan } from '../../support/stored-items.ts';
import { writeBatches } from '../../support/write-batches.ts';

const engine = inject('engine');
const proxy = await startProxy(engine);
afterAll(() => proxy.stop());
afterEach(() => proxy.impose());

let table: string;
beforeEach(async () => {
  ({ audit: table } = await useOwnTables(proxy.url));
});

const itemOf = (i: number, details = ''): Item => {
  const action = { user_id: 1, action: 'LOGIN', resource: 'users', resource_id: 7 } as const;
  const entry = makeEntry(
    { ...action, result: 'FAILURE', details },
    { now: new Date(Date.UTC(2026, 5, 1) + i), random: () => i % 8 },
  );
  return toItem(entry, { writeId: 'w' });
};

/** As it was written before there were the last two indexes. */
const earlierItemOf = (...of: Parameters<typeof itemOf>): Item => {
  const { resource_key, failure_shard, ...item } = itemOf(...of);
  return item;
};

const numbered = (count: number) => Array.from({ length: count }, (_, i) => i);
const byId = (a: Item, b: Item) => Number(a.id) - Number(b.id);
const stored = async () => [...(await scan(engine, table))].sort(byId);

/** What is told while the keys are filled. */
const fill = async () => {
  const told: unknown[] = [];
  for await (const done of fillKeys()) told.push(done);
  return told;
};

describe('Filling in the index keys of entries', () => {
  it('gives every entry the keys that it lacks, and tells from time to time how many', async () => {
    // More than one response of DynamoDB holds, which is 1 MB.
    const long = 'x'.repeat(100_000);
    const items = numbered(15).map((i) => (i % 3 ? itemOf : earlierItemOf)(i, long));
    await writeBatches(engine, table, items);

    const told = await fill();
    const toldAgain = await fill();

    expect(await stored()).toEqual(numbered(15).map((i) => itemOf(i, long)));
    expect(told.length).toBeGreaterThan(1);
    expect(told.at(-1)).toEqual({ read: 15, filled: 5 });
    expect(toldAgain.at(-1)).toEqual({ read: 15, filled: 0 });
  });

  it('leaves a key as it is that an entry has, even a wrong one', async () => {
    const wrong = { ...earlierItemOf(0), shard: 'wrong' };
    await writeBatches(engine, table, [wrong]);

    await fill();

    expect(await stored()).toEqual([{ ...itemOf(0), shard: 'wrong' }]);
  });

  it('asks for what was written just before, too', async () => {
    proxy.forget();

    expect(await fill()).toEqual([{ read: 0, filled: 0 }]);

    expect(proxy.requests.map(({ content }) => content)).toEqual([
      expect.stringContaining('"ConsistentRead":true'),
    ]);
  });

  it('does not bring an entry back that leaves the table meanwhile', async () => {
    await writeBatches(engine, table, [earlierItemOf(0), earlierItemOf(1)]);
    const client = engineClient(engine);
    const deleteFirst: Fault = async ({ forward, answer }) => {
      await client.send(new DeleteCommand({ TableName: table, Key: { id: itemOf(0).id } }));
      answer(await forward());
    };
    proxy.impose({ fault: deleteFirst, operation: 'UpdateItem' });

    const told = await fill();

    expect(told).toEqual([{ read: 2, filled: 1 }]);
    expect(await stored()).toEqual([itemOf(1)]);
  });

  it('ends with the fault of a write that the store refuses', async () => {
    await writeBatches(engine, table, [earlierItemOf(0)]);
    proxy.impose({ fault: faults.missingTable, operation: 'UpdateItem' });

    await expect(fill()).rejects.toMatchObject({ code: 'STORAGE_FAULT' });
  });
});
