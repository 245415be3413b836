import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { type Archive, windowAt } from '../../lib/audit/archive/archive.ts';
import { beginning, compact } from '../../lib/audit/archive/digest.ts';
import { auditEntries } from '../../lib/audit/archive/table.ts';
import { expiryBound, keptSince } from '../../lib/audit/retention.ts';
import { config } from '../../lib/config.ts';
import { isConditionFailure, send } from '../../lib/dynamodb/client.ts';
import { auditTable } from '../../lib/dynamodb/tables.ts';

const expiry = auditTable.timeToLive;

/** Deletes an entry whose time is over, if it still is: a replay may have written it anew. */
const deleteExpired = async (id: unknown, now: number): Promise<void> => {
  const command = new DeleteCommand({
    TableName: config.auditTable,
    Key: { id },
    ConditionExpression: '#expiry <= :now',
    ExpressionAttributeNames: { '#expiry': expiry },
    ExpressionAttributeValues: { ':now': now / 1000 },
  });
  await send(command).catch((error) => {
    if (!isConditionFailure(error)) throw error;
  });
};

/**
 * Deletes entries whose time in the table is over. On AWS DynamoDB does; engines on one machine
 * take a time to live, and delete nothing.
 * @param now milliseconds since 1970
 * @throws {DomainError} STORAGE_FAULT
 */
export const removeExpired = async (now: number): Promise<void> => {
  // None that can expire is younger, so that no scan is needed.
  for await (const item of auditEntries.between(beginning, expiryBound(now))) {
    if (Number(item[expiry]) * 1000 <= now) await deleteExpired(item.id, now);
  }
};

/**
 * Deletes windows whose time in the archive is over, as a rule of the bucket does on AWS.
 * @param days 0: never
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
