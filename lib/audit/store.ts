import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { sendIf } from '../dynamodb/client.ts';
import { type Page, readPage } from '../dynamodb/page.ts';
import { auditTable, createdAtKey, type IndexDefinition } from '../dynamodb/tables.ts';
import { config } from '../settings.ts';
import { seconds } from '../time.ts';
import type { Action, AuditEntry } from './entry.ts';

/** A number of any size: as such where a double holds it exactly, otherwise as text. */
const numberOf = (text: string): number | string => {
  const number = Number(text);
  return Math.abs(number) <= Number.MAX_SAFE_INTEGER && String(number) === text ? number : text;
};

/** What is in a list, a map or a set, as JSON has it. */
const jsonOf = (value: AttributeValue): unknown => {
  // The SDK may lose the value of a name such as __proto__.
  const { S, N, B, L, M, SS, NS, BS, BOOL }: AttributeValue = Object(value);
  if (N !== undefined) return numberOf(N);
  if (B) return Buffer.from(B).toString('base64');
  if (L) return L.map(jsonOf);
  if (M) return Object.fromEntries(Object.entries(M).map(([name, each]) => [name, jsonOf(each)]));
  if (NS) return NS.map(numberOf);
  if (BS) return BS.map((bytes) => Buffer.from(bytes).toString('base64'));
  return S ?? SS ?? BOOL ?? null;
};

/**
 * An attribute of an entry as it is shown. Those that the service writes are shown as they are;
 * others, which somebody wrote past it, in the form of functions/README.md, Odd entries.
 */
export const shown = (value: AttributeValue | undefined): string | number | null => {
  if (value === undefined) return null;
  if (value.S !== undefined) return value.S;
  const json = jsonOf(value);
  if (json === null || typeof json === 'number' || typeof json === 'string') return json;
  return JSON.stringify(json);
};

const [byCreatedAt, byUserId, byAction, byUserIdAndAction, byResourceId, failures] =
  auditTable.indexes;

/** Partitions over which a key that many writes share is spread: 1,000 writes a second each. */
const shardCount = 8;
export const shards = Array.from({ length: shardCount }, (_, shard) => String(shard));

/** The index keys of an entry, a function of the entry alone. An absent key leaves an index out. */
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

/** What is kept of a write beside the entry, and no response shows. */
export interface EntryWrite {
  /** Tells it apart from another write that drew the same id. */
  readonly writeId: string;
  /** Of the request that is recorded: it leads to the request's log line. */
  readonly requestId?: string | undefined;
  /** Seconds since 1970, from when on DynamoDB may delete the entry; absent: it stays. */
  readonly expiresAt?: number | undefined;
}

/** Seconds. */
const day = 86_400;

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

/** What entries are wanted. Conditions that are absent are none; the others all hold. */
export interface AuditFilter {
  readonly userId?: number | undefined;
  readonly action?: Action | undefined;
  readonly result?: AuditEntry['result'] | undefined;
  /** Of a user: nothing else that entries are about has an id. */
  readonly resourceId?: string | undefined;
  /** Inclusive; as `created_at` is written. */
  readonly since?: string | undefined;
  /** Exclusive; the same. */
  readonly until?: string | undefined;
}

/** The partitions of an index that hold what a filter wants; undefined where it is not for it. */
type Plan = readonly [IndexDefinition, (filter: AuditFilter) => readonly string[] | undefined];

/**
 * Which index answers which filter: the first that is for it. It has every entry that the filter
 * wants, and few others; the time is part of its sort key, the rest is left to {@link matching}.
 */
const plans: readonly Plan[] = [
  [byResourceId, ({ resourceId }) => (resourceId ? [resourceId] : undefined)],
  [
    byUserIdAndAction,
    ({ userId, action }) => (userId !== undefined && action ? [`${userId}#${action}`] : undefined),
  ],
  [byUserId, ({ userId }) => (userId === undefined ? undefined : [String(userId)])],
  [failures, ({ result }) => (result === 'FAILURE' ? shards : undefined)],
  [byAction, ({ action }) => (action ? shards.map((shard) => `${action}#${shard}`) : undefined)],
  [byCreatedAt, () => shards],
];

const planFor = (filter: AuditFilter) => {
  for (const [index, partitionsOf] of plans) {
    const partitions = partitionsOf(filter);
    if (partitions) return { index, partitions };
  }
  throw new Error('No index is for the filter');
};

/** Whether a value is what is wanted; somebody who writes past the service may mistake its type. */
const isSame = (value: unknown, wanted: string | number | undefined): boolean =>
  wanted === undefined ||
  value === wanted ||
  (value !== null && value !== undefined && String(value) === String(wanted));

/** Whether an entry keeps all conditions but those of time. */
export const matching =
  ({ userId, action, result, resourceId }: AuditFilter) =>
  (entry: Partial<AuditEntry>): boolean =>
    isSame(entry.user_id, userId) &&
    isSame(entry.action, action) &&
    isSame(entry.result, result) &&
    isSame(entry.resource_id, resourceId);

/** Entries that one request reads at most, wanted or not. */
const mostRead = 2000;

/** What an entry is answered with, in this order: no keys of indexes, nothing of its write. */
export const attributes: readonly (keyof AuditEntry)[] = [
  ...(['id', 'user_id', 'action', 'resource', 'resource_id'] as const),
  ...(['ip_address', 'user_agent', 'result', 'details', 'created_at'] as const),
];

/** Some entries of a list; those that the service did not write may be odd ({@link shown}). */
export interface AuditPage extends Omit<Page, 'entries'> {
  readonly entries: readonly AuditEntry[];
}

/**
 * One page of the entries that match a filter. It may be short, even empty, where few of the
 * entries that were read match, or some are very long.
 * @param after the place to begin after, as the page before gave it in `next`
 * @throws {DomainError} STORAGE_FAULT
 */
export const listEntries = async (
  filter: AuditFilter,
  {
    order = 'desc',
    ...request
  }: { limit: number; after?: string | undefined; order?: 'asc' | 'desc' | undefined },
): Promise<AuditPage> => {
  const page = await readPage({
    table: config.auditTable,
    ...planFor(filter),
    order: order === 'asc' ? 'oldest first' : 'newest first',
    // Every sort key goes on after the time that it begins with.
    from: filter.since,
    to: filter.until,
    matches: matching(filter),
    mostRead,
    attributes,
    shown,
    ...request,
  });
  return { ...page, entries: page.entries as readonly unknown[] as readonly AuditEntry[] };
};
