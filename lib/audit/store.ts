import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { config } from '../config.ts';
import { isConditionFailure, send } from '../dynamodb/client.ts';
import { type Page, readPage } from '../dynamodb/page.ts';
import { auditTable, createdAtKey, type IndexDefinition } from '../dynamodb/tables.ts';
import type { Action } from './actions.ts';
import type { AuditEntry } from './entry.ts';

const [byCreatedAt, byUserId, byAction, byUserIdAndAction] = auditTable.indexes;

/** Partitions over which a key that many writes share is spread: 1,000 writes a second each. */
const shardCount = 8;
const shards = Array.from({ length: shardCount }, (_, shard) => String(shard));

/** The index keys of an entry, a function of the entry alone. An absent key leaves an index out. */
const indexKeys = ({ id, user_id, action, created_at }: AuditEntry) => {
  const shard = String(id % shardCount);
  return {
    created_at_id: createdAtKey({ id, created_at }),
    shard,
    action_shard: `${action}#${shard}`,
    ...(user_id === null ? {} : { user_key: String(user_id), user_action: `${user_id}#${action}` }),
  };
};

/** What is kept of a write beside the entry, and no response shows. */
export interface EntryWrite {
  /** Tells it apart from another write that drew the same id. */
  readonly writeId: string;
  /** Of the request that is recorded: it leads to the request's log line. */
  readonly requestId?: string | undefined;
}

/** An entry as the table holds it. */
export const toItem = (entry: AuditEntry, { writeId, requestId }: EntryWrite) => ({
  ...entry,
  ...indexKeys(entry),
  write_id: writeId,
  ...(requestId ? { request_id: requestId } : {}),
});

/**
 * Writes an entry, once however often it is called with the same entry and write id.
 * @returns false when another entry has the id
 * @throws {DomainError} STORAGE_FAULT
 */
export const insertEntry = async (
  entry: AuditEntry,
  { timeout, ...write }: EntryWrite & { timeout?: number },
): Promise<boolean> => {
  const command = new PutCommand({
    TableName: config.auditTable,
    Item: toItem(entry, write),
    ConditionExpression: 'attribute_not_exists(id) OR write_id = :write_id',
    ExpressionAttributeValues: { ':write_id': write.writeId },
  });
  try {
    await send(command, timeout === undefined ? {} : { timeout });
    return true;
  } catch (error) {
    if (isConditionFailure(error)) return false;
    throw error;
  }
};

export interface AuditFilter {
  readonly userId?: number | undefined;
  readonly action?: Action | undefined;
}

/** The index that answers a filter without reading an entry that does not match it. */
const indexFor = ({ userId, action }: AuditFilter): [IndexDefinition, readonly string[]] => {
  if (userId !== undefined && action) return [byUserIdAndAction, [`${userId}#${action}`]];
  if (userId !== undefined) return [byUserId, [String(userId)]];
  if (action) return [byAction, shards.map((shard) => `${action}#${shard}`)];
  return [byCreatedAt, shards];
};

/** What an entry is answered with, in this order: no keys of indexes, nothing of its write. */
const attributes: readonly (keyof AuditEntry)[] = [
  ...(['id', 'user_id', 'action', 'resource', 'resource_id'] as const),
  ...(['ip_address', 'user_agent', 'result', 'details', 'created_at'] as const),
];

/**
 * One page of the entries that match a filter, newest first.
 * @param after the sort key to begin after, exclusive
 * @throws {DomainError} STORAGE_FAULT
 */
export const listEntries = async (
  filter: AuditFilter,
  request: { limit: number; after?: string | undefined },
): Promise<{ entries: readonly AuditEntry[] } & Pick<Page, 'next'>> => {
  const [index, partitions] = indexFor(filter);
  const table = config.auditTable;
  const page = await readPage({
    table,
    index,
    partitions,
    order: 'newest first',
    attributes,
    ...request,
  });
  return { ...page, entries: page.entries as readonly unknown[] as readonly AuditEntry[] };
};
