/** How audit entries are stored. */
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { sendIf } from '../dynamodb/client.ts';
import { auditTable, createdAtKey } from '../dynamodb/tables.ts';
import { config } from '../settings.ts';
import { day, seconds } from '../time.ts';
import type { AuditEntry } from './entry.ts';

/** Partitions over which a key that many writes share is spread: 1,000 writes a second each. */
const shardCount = 8;
export const shards = Array.from({ length: shardCount }, (_, shard) => String(shard));

/**
 * The index keys of an entry, which depend on the entry alone. Without its key, an entry is not in
 * an index.
 */
export const indexKeys = (entry: AuditEntry): Readonly<Record<string, string>> => {
  const { id, user_id, action, resource_id, result, created_at } = entry;
  const shard = String(id % shardCount);
  return {
    created_at_id: createdAtKey({ id, created_at }),
    shard,
    action_shard: `${action}#${shard}`,
    ...(user_id === null ? {} : { user_key: String(user_id), user_action: `${user_id}#${action}` }),
    ...(resource_id ? { resource_key: resource_id } : {}),
    ...(result === 'FAILURE' ? { failure_shard: shard } : {}),
  };
};

/** The attributes that are stored beside the entry. No response shows them. */
export interface EntryWrite {
  /** Distinguishes the write from another one that drew the same id. */
  readonly writeId: string;
  /** The id of the recorded request, which leads to its log line. */
  readonly requestId?: string | undefined;
  /** The time, in seconds since 1970, after which DynamoDB may delete the entry; absent: never. */
  readonly expiresAt?: number | undefined;
}

/** The time to live with which an entry is written; none where entries stay for ever. */
export const timeToLive = (
  { created_at }: Pick<AuditEntry, 'created_at'>,
  days: number,
): Pick<EntryWrite, 'expiresAt'> =>
  days === 0 ? {} : { expiresAt: seconds(new Date(created_at)) + days * day };

/** An entry as the table holds it. */
export const toItem = (entry: AuditEntry, { writeId, requestId, expiresAt }: EntryWrite) => ({
  ...entry,
  ...indexKeys(entry),
  write_id: writeId,
  ...(requestId ? { request_id: requestId } : {}),
  ...(expiresAt === undefined ? {} : { [auditTable.timeToLive]: expiresAt }),
});

/**
 * Writes an entry, once however often it is called with the same entry and write id.
 * @returns false when another entry has the id
 * @throws {DomainError} STORAGE_FAULT
 */
export const insertEntry = (
  entry: AuditEntry,
  { timeout, ...write }: EntryWrite & { timeout?: number },
): Promise<boolean> => {
  const command = new PutCommand({
    TableName: config.auditTable,
    Item: toItem(entry, write),
    ConditionExpression: 'attribute_not_exists(id) OR write_id = :write_id',
    ExpressionAttributeValues: { ':write_id': write.writeId },
  });
  return sendIf(command, timeout === undefined ? {} : { timeout });
};
