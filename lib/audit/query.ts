/** How audit entries are queried (functions/README.md, Audit query). */
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { type Page, type PageRequest, readPage } from '../dynamodb/page.ts';
import { auditIndexes, type IndexDefinition } from '../dynamodb/tables.ts';
import { invalidParameter } from '../ground/errors.ts';
import { config, hasMachines } from '../ground/settings.ts';
import { oneSpelling } from '../ground/source.ts';
import type { Action, AuditEntry, entrySources } from './entry.ts';
import { isPosted, postedKey, shards } from './index-keys.ts';

export interface AuditFilter {
  readonly userId?: number | undefined;
  /** The id of a user: entries about actions by this user, or on this user. */
  readonly about?: number | undefined;
  /** Whose entries: of the service itself, or of machines, which posted them; absent: both. */
  readonly from?: (typeof entrySources)[number] | undefined;
  readonly action?: Action | undefined;
  readonly result?: AuditEntry['result'] | undefined;
  readonly resource?: string | undefined;
  /** The id of a thing of `resource`; without it, the id of a user, or of another thing of the service itself. */
  readonly resourceId?: string | undefined;
  readonly machineId?: number | undefined;
  readonly ipAddress?: string | undefined;
  /** Inclusive, in the form of `created_at`. */
  readonly since?: string | undefined;
  /** Exclusive, in the same form. */
  readonly until?: string | undefined;
}

/** Requires that conditions go together. @throws {DomainError} PARAMETER_INVALID */
export function requireQueryable(filter: AuditFilter): void {
  const { since, until, about, userId, from, resource, resourceId } = filter;
  if (since && until && since >= until) throw invalidParameter('since', 'must be before until');
  if (about !== undefined && (userId ?? resourceId) !== undefined) {
    throw invalidParameter('about', 'must not be given with userId or resourceId');
  }
  if (from === 'machines' && resourceId !== undefined && resource === undefined) {
    throw invalidParameter('resource', 'must be given with resourceId where from is machines');
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

/** The attributes that responses show after these, where they are stored, or where there are machines. */
export const machineAttributes = [
  'machine_id',
  'occurred_at',
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
    attributes: [...attributes, ...machineAttributes],
    shown: shownIfAny,
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

/** An entry as responses show it. @param stored its attributes in DynamoDB's own form */
export function shownEntry(stored: Readonly<Record<string, AttributeValue | undefined>>) {
  const names = [...attributes, ...machineAttributes];
  const values = names.map((name) => [name, shownIfAny(stored[name], name)] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

/** Whether an entry meets all conditions, except the conditions on time. */
export function matching(filter: AuditFilter) {
  const { userId, about, action, result, resource, resourceId, machineId, ipAddress } = filter;
  const sources = sourcesOf(filter);
  return (entry: Partial<AuditEntry>): boolean =>
    (isPosted(entry) ? sources.machines : sources.service) &&
    isWanted(entry.resource, resource) &&
    isWanted(entry.machine_id, machineId) &&
    isWanted(entry.user_id, userId) &&
    isWanted(entry.action, action) &&
    isWanted(entry.result, result) &&
    isWanted(entry.resource_id, resourceId) &&
    (ipAddress === undefined || oneSpelling(`${entry.ip_address}`) === oneSpelling(ipAddress)) &&
    (about === undefined ||
      entry.user_id === about ||
      (entry.resource === 'users' && entry.resource_id === String(about)));
}

type Sources = ReturnType<typeof sourcesOf>;

function sourcesOf({ from, resource, resourceId }: AuditFilter) {
  const isOfMachines = resource === undefined ? undefined : isPosted({ resource });
  const isOfUsers = resource === undefined && resourceId !== undefined;
  return {
    service: from !== 'machines' && isOfMachines !== true,
    machines: from !== 'service' && isOfMachines !== false && !isOfUsers,
  };
}

/**
 * An index, and its partitions that hold the entries of a filter; undefined if it does not serve
 * the filter. Entries of the service itself and of machines are in partitions of their own.
 */
type Plan = readonly [
  IndexDefinition,
  (filter: AuditFilter, sources: Sources) => readonly string[] | undefined,
];

/**
 * Which index serves which filter: a filter uses the first index that can serve it. The index holds every entry of the
 * filter and few others; for `about` it holds only the actions on the user, and {@link alsoDoneBy} adds the actions by
 * the user. The time is part of the sort key of each index; {@link matching} checks the other conditions.
 */
const plans: readonly Plan[] = [
  [
    auditIndexes.byResourceId,
    ({ resource, resourceId }, sources) =>
      resourceId
        ? keysIn(sources, [isPosted({ resource }) ? `${resource}#${resourceId}` : resourceId])
        : undefined,
  ],
  [
    auditIndexes.byResourceId,
    ({ about }, { service }) =>
      about === undefined ? undefined : keysIn({ service, machines: false }, [String(about)]),
  ],
  [
    auditIndexes.byUserIdAndAction,
    ({ userId, action }, sources) =>
      userId !== undefined && action
        ? keysIn(sources, [String(userId)]).map((user) => `${user}#${action}`)
        : undefined,
  ],
  [
    auditIndexes.byUserId,
    ({ userId }, sources) => (userId === undefined ? undefined : keysIn(sources, [String(userId)])),
  ],
  [
    auditIndexes.byResource,
    ({ resource }, { machines }) =>
      machines && isPosted({ resource })
        ? shards.map((shard) => `${resource}#${shard}`)
        : undefined,
  ],
  [
    auditIndexes.failures,
    ({ result }, sources) => (result === 'FAILURE' ? keysIn(sources, shards) : undefined),
  ],
  [
    auditIndexes.byAction,
    ({ action }, sources) =>
      action ? keysIn(sources, shards).map((shard) => `${action}#${shard}`) : undefined,
  ],
  [auditIndexes.byCreatedAt, (_, sources) => keysIn(sources, shards)],
];

function planFor(filter: AuditFilter) {
  const { service, machines } = sourcesOf(filter);
  // Entries of machines that are stored from a time when there were machines are not read.
  const sources = { service, machines: machines && hasMachines(config) };
  for (const [index, partitionsOf] of plans) {
    const partitions = partitionsOf(filter, sources);
    if (partitions) return { index, partitions, ...alsoDoneBy(filter, sources) };
  }
  throw new Error('No index is for the filter');
}

/** The partitions of an index that hold the entries of some sources with given keys. */
function keysIn({ service, machines }: Sources, keys: readonly string[]): readonly string[] {
  return [...(service ? keys : []), ...(machines ? keys.map(postedKey) : [])];
}

/**
 * Of the entries about a user, the actions of the user on others or on the audit trail, whose `resource_id` differs;
 * and the entries of machines that name the user as the one who did it.
 */
function alsoDoneBy(filter: AuditFilter, sources: Sources): Partial<Pick<PageRequest, 'also'>> {
  if (filter.about === undefined) return {};
  const user = String(filter.about);
  const isDone = matching(filter);
  const matches = (entry: Partial<AuditEntry>) =>
    isDone(entry) && (isPosted(entry) || entry.resource_id !== user);
  return { also: { index: auditIndexes.byUserId, partitions: keysIn(sources, [user]), matches } };
}

/** As {@link shown}; undefined for what only entries of machines have, where there are no machines. */
function shownIfAny(value: AttributeValue | undefined, name: string) {
  const isLeftOut = !value && !hasMachines(config) && isOfMachines(name);
  return isLeftOut ? undefined : shown(value);
}

function isOfMachines(name: string): boolean {
  return machineAttributes.some((one) => one === name);
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
