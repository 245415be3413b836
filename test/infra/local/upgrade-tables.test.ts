import { setTimeout as sleep } from 'node:timers/promises';
import { DescribeTableCommand, UpdateTableCommand } from '@aws-sdk/client-dynamodb';
import { beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { upgradeAuditTable } from '../../../infra/local/upgrade-tables.ts';
import { makeEntry } from '../../../lib/audit/entry.ts';
import { type AuditFilter, listEntries, toItem } from '../../../lib/audit/store.ts';
import { auditTable } from '../../../lib/dynamodb/tables.ts';
import { useOwnTables } from '../../support/own-tables.ts';
import { engineClient, scan } from '../../support/stored-items.ts';
import { writeBatches } from '../../support/write-batches.ts';

const engine = inject('engine');
const client = engineClient(engine);

const entries = Array.from({ length: 1200 }, (_, i) =>
  makeEntry(
    {
      ...{ user_id: i % 3 || undefined, action: 'LOGIN', resource: 'users' },
      ...{ resource_id: i % 2 ? 7 : undefined, result: i % 10 ? 'SUCCESS' : 'FAILURE' },
    },
    { now: new Date(Date.UTC(2026, 5, 1) + i), random: () => i % 8 },
  ),
);

/** As they were written before there were the last two indexes. */
const earlierItems = entries.map((entry) => {
  const { resource_key, failure_shard, ...item } = toItem(entry, { writeId: 'w' }) as Record<
    string,
    unknown
  >;
  return item;
});

/** Looks at an index that is being deleted. */
const maxLooks = 300;

const has = async (TableName: string, index: string): Promise<boolean> => {
  const { Table } = await client.send(new DescribeTableCommand({ TableName }));
  return !!Table?.GlobalSecondaryIndexes?.some(({ IndexName }) => IndexName === index);
};

/** Takes from a table the indexes that it did not have before, with what those need. */
const removeIndexes = async (TableName: string): Promise<void> => {
  for (const { name: IndexName } of auditTable.indexes.slice(4)) {
    const GlobalSecondaryIndexUpdates = [{ Delete: { IndexName } }];
    await client.send(new UpdateTableCommand({ TableName, GlobalSecondaryIndexUpdates }));
    for (let looks = 0; looks < maxLooks && (await has(TableName, IndexName)); looks += 1) {
      await sleep(100);
    }
  }
};

const idsOf = async (filter: AuditFilter) => {
  const found = await listEntries(filter, { limit: 1000, order: 'asc' });
  return found.entries.map(({ id }) => id);
};

const expectAllFound = async () => {
  const ids = (matches: (entry: (typeof entries)[number]) => boolean) =>
    entries.filter(matches).map(({ id }) => id);
  expect(await idsOf({ resourceId: '7' })).toEqual(ids(({ resource_id }) => resource_id === '7'));
  expect(await idsOf({ result: 'FAILURE' })).toEqual(ids(({ result }) => result === 'FAILURE'));
};

describe('upgradeAuditTable', () => {
  let audit: string;
  beforeAll(async () => {
    ({ audit } = await useOwnTables());
  });
  const quiet = () => vi.spyOn(console, 'log').mockReturnValue();

  it('adds the indexes that a table of an earlier version lacks, with all its entries', async () => {
    await removeIndexes(audit);
    await writeBatches(engine, audit, earlierItems);
    const log = quiet();

    await upgradeAuditTable(engine, audit);
    await upgradeAuditTable(engine, audit);

    expect(log).toHaveBeenCalledTimes(1);
    log.mockRestore();
    await expectAllFound();
    const items = [...(await scan(engine, audit))].sort((a, b) => Number(a.id) - Number(b.id));
    const expected = entries.map((entry) => toItem(entry, { writeId: 'w' }));
    expect(items).toEqual(expected.sort((a, b) => a.id - b.id));
  });

  it('goes on where an earlier start was interrupted', async () => {
    await removeIndexes(audit);
    const items = entries.map((entry) => toItem(entry, { writeId: 'w' }));
    await writeBatches(engine, audit, [...items.slice(0, 600), ...earlierItems.slice(600)]);
    const log = quiet();

    await upgradeAuditTable(engine, audit);

    log.mockRestore();
    await expectAllFound();
  });
});
