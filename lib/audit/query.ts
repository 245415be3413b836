/** How audit entries are queried (functions/README.md, Audit query). */
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { type Page, type PageRequest, readPage } from '../dynamodb/page.ts';
import { auditIndexes, type IndexDefinition } from '../dynamodb/tables.ts';
import { invalidParameter } from '../ground/errors.ts';
import { config } from '../ground/settings.ts';
import { oneSpelling } from '../ground/source.ts';
import type { Action, AuditEntry } from './entry.ts';
import { shards } from './index-keys.ts';

/** The conditions that entries must meet, all of them. */
export interface AuditFilter {
  readonly userId?: number | undefined;
  /** The id of a user: entries about actions by this user, or on this user. */
  readonly about?: number | undefined;
  readonly action?: Action | undefined;
  readonly result?: AuditEntry['result'] | undefined;
  /** The id of a user, or of a version of the signing secret. */
  readonly resourceId?: string | undefined;
  readonly ipAddress?: string | undefined;
  /** Inclusive, in the form of `created_at`. */
  readonly since?: string | undefined;
  /** Exclusive, in the same form. */
  readonly until?: string | undefined;
}

/** Requires that conditions go together. @throws {DomainError} PARAMETER_INVALID */
export function requireQueryable({ since, until, about, userId, resourceId }: AuditFilter): void {
  if (since && until && since >= until) throw invalidParameter('since', 'must be before until');
  if (about !== undefined && (userId ?? resourceId) !== undefined) {
    throw invalidParameter('about', 'must not be given with userId or resourceId');
  }
}

/** The attributes that responses show, in this order: no index keys, and no data of the write. */
export const attributes = [
  'id',
  'user_id',
  'action',
  'resource',
  'resource_id',
  'ip_address',
  'user_agent',
  'result',
  'details',
  'created_at',
] as const satisfies readonly (keyof AuditEntry)[];

/** A page of entries. Entries that the service did not write may have other types ({@link shown}). */
export interface AuditPage extends Omit<Page, 'entries'> {
  readonly entries: readonly AuditEntry[];
}

/** The most entries that one request reads, whether or not they match. */
const mostRead = 2000;

/**
 * One page of the entries that match a filter. It may be short, even empty, if few of the entries
 * that were read match, or if some are very long.
 * @param after the place after which the page begins: `next` of the page before
 * @throws {DomainError} STORAGE_FAULT
 */
export async function listEntries(
  filter: AuditFilter,
  request: { limit: number; after?: string | undefined; order: 'asc' | 'desc' },
): Promise<AuditPage> {
  const page = await readPage({
    table: config.auditTable,
    ...planFor(filter),
    // Every sort key begins with the time.
    from: filter.since,
    to: filter.until,
    matches: matching(filter),
    mostRead,
    attributes,
    shown,
    ...request,
  });
  return { ...page, entries: page.entries as readonly unknown[] as readonly AuditEntry[] };
}

/** An attribute of an entry as responses show it: in an entry that the service did not write, it may have any type. */
export function shown(value: AttributeValue | undefined): string | number | null {
  if (!value || value.NULL) return null;
  if (value.S !== undefined) return value.S;
  return value.N === undefined ? JSON.stringify(value, withBase64) : numberOf(value.N);
}

/** Whether an entry meets all conditions, except the conditions on time. */
export function matching({ userId, about, action, result, resourceId, ipAddress }: AuditFilter) {
  return (entry: Partial<AuditEntry>): boolean =>
    isWanted(entry.user_id, userId) &&
    isWanted(entry.action, action) &&
    isWanted(entry.result, result) &&
    isWanted(entry.resource_id, resourceId) &&
    (ipAddress === undefined || oneSpelling(`${entry.ip_address}`) === oneSpelling(ipAddress)) &&
    (about === undefined ||
      entry.user_id === about ||
      (entry.resource === 'users' && entry.resource_id === String(about)));
}

/**
 * An index, and its partitions that hold the entries of a filter; undefined if it does not serve
 * the filter.
 */
type Plan = readonly [IndexDefinition, (filter: AuditFilter) => readonly string[] | undefined];

/**
 * Which index serves which filter: a filter uses the first index that can serve it. The index holds every entry of the
 * filter and few others; for `about` it holds only the actions on the user, and {@link alsoDoneBy} adds the actions by
 * the user. The time is part of the sort key of each index; {@link matching} checks the other conditions.
 */
const plans: readonly Plan[] = [
  [auditIndexes.byResourceId, ({ resourceId }) => (resourceId ? [resourceId] : undefined)],
  [auditIndexes.byResourceId, ({ about }) => (about === undefined ? undefined : [String(about)])],
  [
    auditIndexes.byUserIdAndAction,
    ({ userId, action }) => (userId !== undefined && action ? [`${userId}#${action}`] : undefined),
  ],
  [auditIndexes.byUserId, ({ userId }) => (userId === undefined ? undefined : [String(userId)])],
  [auditIndexes.failures, ({ result }) => (result === 'FAILURE' ? shards : undefined)],
  [
    auditIndexes.byAction,
    ({ action }) => (action ? shards.map((shard) => `${action}#${shard}`) : undefined),
  ],
  [auditIndexes.byCreatedAt, () => shards],
];

function planFor(filter: AuditFilter) {
  for (const [index, partitionsOf] of plans) {
    const partitions = partitionsOf(filter);
    if (partitions) return { index, partitions, ...alsoDoneBy(filter) };
  }
  throw new Error('No index is for the filter');
}

/**
 * Of the entries about a user, the actions of the user on others or on the audit trail: their `resource_id` differs.
 */
function alsoDoneBy({ about, ...filter }: AuditFilter): Partial<Pick<PageRequest, 'also'>> {
  if (about === undefined) return {};
  const partition = String(about);
  const isDone = matching({ ...filter, about });
  const matches = (entry: Partial<AuditEntry>) => isDone(entry) && entry.resource_id !== partition;
  return { also: { index: auditIndexes.byUserId, partition, matches } };
}

function withBase64(_: string, value: unknown) {
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value;
}

/** A number of any size: as a number if a double holds it exactly, otherwise as text. */
function numberOf(text: string): number | string {
  const number = Number(text);
  return Math.abs(number) <= Number.MAX_SAFE_INTEGER && String(number) === text ? number : text;
}

function isWanted(value: unknown, wanted: string | number | undefined): boolean {
  return wanted === undefined || value === wanted;
}
