import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DeleteCommand, ScanCommand, type ScanCommandInput } from '@aws-sdk/lib-dynamodb';
import { expiryBound, keptSince } from '../../lib/audit/retention.ts';
import { shards } from '../../lib/audit/store.ts';
import { isConditionFailure, send } from '../../lib/dynamodb/client.ts';
import { readPage } from '../../lib/dynamodb/page.ts';
import { auditTable, type TableDefinition, usersTable } from '../../lib/dynamodb/tables.ts';
import { type Archive, auditEntries, beginning, compact, windowAt } from '../../lib/seal/door.ts';
import { config } from '../../lib/settings.ts';

/** The condition that an item of a table has expired. */
const expired = ({ timeToLive = '' }: TableDefinition, now: number) => ({
  condition: '#expiry <= :now',
  ExpressionAttributeNames: { '#expiry': timeToLive },
  ExpressionAttributeValues: { ':now': now / 1000 },
});

/** Deletes an item if it is still expired: it may have been written again meanwhile. */
const deleteExpired = async (
  TableName: string,
  Key: Readonly<Record<string, unknown>>,
  { condition, ...rest }: ReturnType<typeof expired>,
): Promise<void> => {
  const command = new DeleteCommand({
    TableName,
    Key,
    ConditionExpression: condition,
    ...rest,
  });
  await send(command).catch((error) => {
    if (!isConditionFailure(error)) throw error;
  });
};

/**
 * Deletes expired items of the users table (counts, links, ended sessions). On AWS DynamoDB does
 * this; local engines accept a time to live but delete nothing.
 * @param now milliseconds since 1970
 * @throws {DomainError} STORAGE_FAULT
 */
export const removeExpiredItems = async (now: number): Promise<void> => {
  const TableName = config.usersTable;
  const past = expired(usersTable, now);
  const { condition: FilterExpression, ...rest } = past;
  let ExclusiveStartKey: ScanCommandInput['ExclusiveStartKey'];
  do {
    const { Items = [], LastEvaluatedKey } = await send(
      new ScanCommand({
        TableName,
        FilterExpression,
        ...rest,
        ExclusiveStartKey,
        ProjectionExpression: usersTable.partitionKey.name,
      }),
    );
    for (const key of Items) await deleteExpired(TableName, key, past);
    ExclusiveStartKey = LastEvaluatedKey;
  } while (ExclusiveStartKey);
};

/** When the newest audit entry was recorded, in milliseconds since 1970; undefined without one. */
export const newestEntry = async (): Promise<number | undefined> => {
  const { entries } = await readPage({
    table: config.auditTable,
    index: auditTable.indexes[0],
    partitions: shards,
    order: 'newest first',
    attributes: ['created_at'],
    // Somebody may have written entries whose time is none.
    limit: 100,
  });
  const times = entries.map(({ created_at }) => Date.parse(String(created_at)));
  return times.find(Number.isFinite);
};

/**
 * Deletes expired entries of the audit table.
 * @param now milliseconds since 1970
 * @throws {DomainError} STORAGE_FAULT
 */
export const removeExpiredEntries = async (now: number): Promise<void> => {
  // No newer entry can have expired, so that no scan of the table is needed.
  const past = expired(auditTable, now);
  for await (const item of auditEntries.between(beginning, expiryBound(now))) {
    if (Number(item[auditTable.timeToLive]) * 1000 <= now) {
      await deleteExpired(config.auditTable, { id: item.id }, past);
    }
  }
};

/**
 * Deletes expired windows of the archive. On AWS a lifecycle rule of the bucket does this.
 * @param days for which windows are kept; 0: forever
 */
export const removeOldWindows = async (
  { archive, folder }: { archive: Archive; folder: string },
  days: number,
  now: number,
): Promise<void> => {
  const kept = keptSince(days, now);
  const first = kept && (await windowAt(archive, kept));
  if (!first) return;
  for await (const { name } of archive.list('')) {
    const isOfWindow = /^\d{8}T\d{9}Z\./.test(name);
    if (isOfWindow && name < compact(first)) {
      await rm(join(folder, name), { force: true, recursive: true });
    }
  }
};
