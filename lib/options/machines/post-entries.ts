/**
 * How entries that a machine posts are stored once, however often their request is sent (functions/README.md, Entries
 * of your own services). The item of the request's key is written first. Every byte of an entry follows from it and
 * from the request, and an entry that is stored is never written over: it may have been sealed.
 */
import { hash, randomInt, randomUUID } from 'node:crypto';
import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { type AuditEntry, makeAuditId, makeEntry } from '../../audit/entry.ts';
import { drawId, maxDraws, timeToLive, toItem } from '../../audit/record.ts';
import {
  conditionItem,
  Overtaken,
  readItems,
  send,
  untilWritten,
  updateOnce,
} from '../../dynamodb/client.ts';
import { itemKey } from '../../dynamodb/tables.ts';
import { DomainError, type FieldFault, namedError, sentenceOf } from '../../ground/errors.ts';
import { config } from '../../ground/settings.ts';
import { day, dayInMilliseconds, seconds } from '../../ground/time.ts';
import type { PostedEntry } from './posted-entry.ts';

/** A request of a machine that posts entries. */
export interface Post {
  /** The id of the machine. */
  readonly machine: number;
  /** The header Idempotency-Key. */
  readonly key: string;
  readonly entries: readonly PostedEntry[];
  readonly request_id: string;
}

/** The id and the time of an entry, as the response has them. */
export type Stored = Pick<AuditEntry, 'id' | 'created_at'>;

/**
 * The key of a request.
 * @throws {DomainError} IDEMPOTENCY_KEY_REQUIRED, IDEMPOTENCY_KEY_INVALID
 */
export function requireIdempotencyKey(
  headers: Readonly<Record<string, string | undefined>>,
): string {
  const key = headers['idempotency-key'];
  if (key === undefined) throw new DomainError('IDEMPOTENCY_KEY_REQUIRED');
  if (!/^[!-~]{1,64}$/.test(key)) throw new DomainError('IDEMPOTENCY_KEY_INVALID');
  return key;
}

/**
 * Stores the entries of a request, or completes an earlier request with the same key.
 * @returns the entries in the order of the request, and whether its key is new
 * @throws {DomainError} FIELD_INVALID, IDEMPOTENCY_KEY_USED, or STORAGE_FAULT, after which some entries may be stored
 */
export async function postEntries(
  post: Post,
  { now = new Date(), random = randomInt }: { now?: Date; random?: (below: number) => number } = {},
): Promise<{ readonly isNew: boolean; readonly stored: readonly Stored[] }> {
  const { known, isNew } = await claimKey(post, now, random);
  const stored = await untilWritten(
    () => requireKey(post),
    (item) => complete(item, post, now, random),
    known,
  );
  return { isNew, stored };
}

/** What a machine needs to know of the time of an entry. */
const timeRule = 'must be at most 7 days ago, and at most 5 minutes ahead';

/** Milliseconds. */
const mostAgo = 7 * dayInMilliseconds;
const fiveMinutes = 5 * 60_000;

/** For how long a key counts, and when DynamoDB may delete its item, in days. */
const keyDays = 8;
const itemDays = 9;

/** The item of a key. All lists have a member for each entry of the request. */
interface KeyItem {
  readonly pk: string;
  /** SHA-256 of the entries. */
  readonly content: string;
  /** When the key was first sent. */
  readonly at: string;
  /** The first request with the key. */
  readonly request_id: string;
  readonly ids: readonly number[];
  /** `created_at` of the entries. */
  readonly times: readonly string[];
  /** `expires_at` of the entries; null: never. */
  readonly expiry: readonly (number | null)[];
  readonly version: string;
  readonly expires_at: number;
}

/**
 * Writes the item of a key, or finds the item that an earlier request has written.
 * @throws {DomainError} FIELD_INVALID for a new key with an entry whose time is too far from now
 */
async function claimKey(post: Post, now: Date, random: (below: number) => number) {
  const oldest = new Date(now.getTime() - keyDays * dayInMilliseconds).toISOString();
  const faults = timeFaults(post, now);
  if (faults.length > 0) {
    const known = await readKey(post);
    if (!known || known.at < oldest) throw refusal(faults);
    return { known, isNew: false };
  }
  const item = newItem(post, now, random);
  const command = new PutCommand({
    TableName: config.usersTable,
    Item: item,
    ConditionExpression: 'attribute_not_exists(pk) OR #at < :oldest',
    ExpressionAttributeNames: { '#at': 'at' },
    ExpressionAttributeValues: { ':oldest': oldest },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  });
  try {
    await send(command);
    return { known: item, isNew: true };
  } catch (error) {
    const known = conditionItem<KeyItem>(error);
    if (!known) throw error;
    return { known, isNew: known.version === item.version };
  }
}

function timeFaults({ entries }: Post, now: Date): readonly FieldFault[] {
  return entries.flatMap(({ occurredAt }, i) => {
    const ago = occurredAt ? now.getTime() - Date.parse(occurredAt) : 0;
    const isTimely = ago <= mostAgo && ago >= -fiveMinutes;
    const field = `entries/${i}/occurredAt`;
    return isTimely ? [] : [{ field, code: 'INVALID_FORMAT' as const, rule: timeRule }];
  });
}

function refusal(faults: readonly FieldFault[]): DomainError {
  const [first] = faults as readonly [FieldFault];
  return new DomainError('FIELD_INVALID', { message: sentenceOf(first), faults });
}

async function readKey(post: Post): Promise<KeyItem | undefined> {
  const Key = keyOf(post);
  const command = new GetCommand({ TableName: config.usersTable, Key, ConsistentRead: true });
  const { Item } = await send(command);
  return Item as KeyItem | undefined;
}

function keyOf({ machine, key }: Post) {
  return itemKey('posted#*', machine, key);
}

async function requireKey(post: Post): Promise<KeyItem> {
  const item = await readKey(post);
  if (!item) throw new DomainError('STORAGE_FAULT', { cause: namedError('KeyDeleted') });
  return item;
}

function newItem(post: Post, now: Date, random: (below: number) => number): KeyItem {
  const at = now.toISOString();
  const { entries, request_id } = post;
  return {
    ...keyOf(post),
    content: contentOf(entries),
    at,
    request_id,
    ids: drawIds(entries.length, now, random),
    times: entries.map(() => at),
    expiry: entries.map(() => expiryOf(at)),
    version: randomUUID(),
    expires_at: seconds(now) + itemDays * day,
  };
}

/** The hash of entries as they are stored, but for their ids and times. */
function contentOf(entries: readonly PostedEntry[]): string {
  const values = entries.map((entry) => [
    ...[entry.action, entry.resource, entry.result, entry.resourceId ?? null],
    ...[entry.userId ?? null, entry.ipAddress ?? null, entry.userAgent ?? null],
    ...[entry.details ?? null, entry.occurredAt ?? null],
  ]);
  return hash('sha256', JSON.stringify(values));
}

/** Different ids of one time, in their order, in which the trail shows the entries. */
function drawIds(count: number, now: Date, random: (below: number) => number): readonly number[] {
  const ids = new Set<number>();
  while (ids.size < count) ids.add(makeAuditId(now, random));
  return [...ids].sort((a, b) => a - b);
}

function expiryOf(created_at: string): number | null {
  return timeToLive({ created_at }, config.auditRetentionDays).expiresAt ?? null;
}

/**
 * Stores those entries of a key that are missing. An entry that would come late, and so be told as inserted by somebody
 * else, first gets another id and the present time.
 * @throws {Overtaken} when another request has changed the item of the key
 */
async function complete(
  item: KeyItem,
  post: Post,
  now: Date,
  random: (below: number) => number,
): Promise<readonly Stored[]> {
  if (item.content !== contentOf(post.entries)) throw new DomainError('IDEMPOTENCY_KEY_USED');
  const isLate = (time: string) => now.getTime() - Date.parse(time) > fiveMinutes;
  const late = item.times.flatMap((time, i) => (isLate(time) ? [i] : []));
  const there = await findStored(item, post, late, now);
  const missing = late.filter((i) => !there.has(i));
  const current = missing.length > 0 ? await moveToNow(item, missing, now, random) : item;
  // All writes have ended before a fault is reported, so that none is made after the response.
  const settled = await Promise.allSettled(
    post.entries.map((_, i) => there.get(i) ?? storeEntry(current, post, i)),
  );
  return settled.map((one) => {
    if (one.status === 'rejected') throw one.reason;
    return { id: one.value.id, created_at: one.value.created_at };
  });
}

/**
 * The entries at some places that are stored, by their places. An entry whose time to live is over counts as stored.
 */
async function findStored(item: KeyItem, post: Post, places: readonly number[], now: Date) {
  const isOver = (i: number) => (item.expiry[i] ?? Number.POSITIVE_INFINITY) <= seconds(now);
  const found = new Map<number, Stored>(
    places.filter(isOver).map((i) => [i, entryAt(item, post, i)]),
  );
  let open = places.filter((i) => !isOver(i));
  for (let draw = 0; draw < maxDraws && open.length > 0; draw += 1) {
    const drawn = open.map((i) => ({ i, entry: entryAt(item, post, i, draw) }));
    const keys = drawn.map(({ entry }) => ({ id: { N: String(entry.id) } }));
    const items = await readItems(config.auditTable, keys);
    const writes = new Map(items.map(({ id, write_id }) => [id?.N, write_id?.S]));
    for (const { i, entry } of drawn) {
      if (writes.get(String(entry.id)) === writeIdOf(item, post, i)) found.set(i, entry);
    }
    // Another entry has the id, so that this one has the next one, if it is stored.
    open = drawn.flatMap(({ i, entry }) =>
      writes.has(String(entry.id)) && !found.has(i) ? [i] : [],
    );
  }
  return found;
}

/** @throws {Overtaken} when another request has changed the item */
async function moveToNow(
  item: KeyItem,
  places: readonly number[],
  now: Date,
  random: (below: number) => number,
): Promise<KeyItem> {
  const at = now.toISOString();
  const drawn = drawIds(places.length, now, random);
  const moved = {
    ids: item.ids.map((id, i) => drawn[places.indexOf(i)] ?? id),
    times: item.times.map((time, i) => (places.includes(i) ? at : time)),
    expiry: item.expiry.map((expiry, i) => (places.includes(i) ? expiryOf(at) : expiry)),
    version: randomUUID(),
  };
  const isMoved = await updateOnce(
    {
      TableName: config.usersTable,
      Key: { pk: item.pk },
      ConditionExpression: 'version = :read',
      UpdateExpression: 'SET ids = :ids, #times = :times, expiry = :expiry, version = :version',
      ExpressionAttributeNames: { '#times': 'times' },
      ExpressionAttributeValues: {
        ':read': item.version,
        ':ids': moved.ids,
        ':times': moved.times,
        ':expiry': moved.expiry,
        ':version': moved.version,
      },
    },
    ({ version }) => version === moved.version,
  );
  if (!isMoved) throw new Overtaken();
  return { ...item, ...moved };
}

/** Stores an entry unless it is stored. @returns it with the id that it has */
async function storeEntry(item: KeyItem, post: Post, i: number): Promise<AuditEntry> {
  const writeId = writeIdOf(item, post, i);
  const { request_id: requestId } = item;
  const expiresAt = item.expiry[i] ?? undefined;
  for (let draw = 0; draw < maxDraws; draw += 1) {
    const entry = entryAt(item, post, i, draw);
    const command = new PutCommand({
      TableName: config.auditTable,
      Item: toItem(entry, { writeId, requestId, expiresAt }),
      ConditionExpression: 'attribute_not_exists(id)',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
    try {
      await send(command);
      return entry;
    } catch (error) {
      const stored = conditionItem<{ write_id?: unknown }>(error);
      if (!stored) throw error;
      if (stored.write_id === writeId) return entry;
    }
  }
  throw new DomainError('STORAGE_FAULT', { cause: namedError('NoFreeId') });
}

/** An entry of a request as it is stored, with the id of a draw. */
function entryAt(item: KeyItem, post: Post, i: number, draw = 0): AuditEntry {
  const { times, ids } = item as { times: readonly string[]; ids: readonly number[] };
  const { resourceId, userId, ipAddress, userAgent, details, occurredAt, ...rest } = post.entries[
    i
  ] as PostedEntry;
  const entry = makeEntry(
    {
      ...rest,
      resource_id: resourceId ?? undefined,
      user_id: userId ?? undefined,
      ip_address: ipAddress ?? undefined,
      user_agent: userAgent ?? undefined,
      details,
      machine_id: post.machine,
      occurred_at: occurredAt ?? undefined,
    },
    { now: new Date(times[i] ?? ''), random: () => 0 },
  );
  return drawId({ ...entry, id: ids[i] ?? entry.id }, writeIdOf(item, post, i), draw);
}

/** The write id of an entry, which another time of the entry changes. */
function writeIdOf({ times }: KeyItem, { machine, key }: Post, i: number): string {
  return hash('sha256', JSON.stringify([machine, key, i, times[i]])).slice(0, 32);
}
