/**
 * How entries that a machine posts are stored once, however often their request is sent (functions/README.md, Entries
 * of your own services). The item of the request's key is written first. Every byte of an entry follows from it and
 * from the request, and an entry that is stored is never written over: it may have been sealed.
 */
import { hash, randomInt } from 'node:crypto';
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { type AuditEntry, makeEntry } from '../../audit/entry.ts';
import { drawId, maxDraws, toItem } from '../../audit/record.ts';
import { conditionItem, readItems, send, untilWritten } from '../../dynamodb/client.ts';
import { DomainError, namedError } from '../../ground/errors.ts';
import { config } from '../../ground/settings.ts';
import { seconds } from '../../ground/time.ts';
import type { PostedEntry } from './posted-entry.ts';
import {
  claimKey,
  contentOf,
  type KeyItem,
  moveToNow,
  type Post,
  requireKey,
} from './posted-key.ts';

/** The id and the time of an entry, as the response has them. */
export type Stored = Pick<AuditEntry, 'id' | 'created_at'>;

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

/** The age in milliseconds after which an entry that is missing gets another time. */
const lateAfter = 5 * 60_000;

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
  const isLate = (time: string) => now.getTime() - Date.parse(time) > lateAfter;
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

/** Stores an entry unless it is stored. @returns it with the id that it has */
async function storeEntry(item: KeyItem, post: Post, i: number): Promise<AuditEntry> {
  const writeId = writeIdOf(item, post, i);
  const { request_id: requestId } = item;
  const expiresAt = item.expiry[i] ?? undefined;
  for (let draw = 0; draw < maxDraws; draw += 1) {
    const entry = entryAt(item, post, i, draw);
    // The document client copies the command and the response, which costs processor time for each entry.
    const command = new PutItemCommand({
      TableName: config.auditTable,
      Item: marshall(toItem(entry, { writeId, requestId, expiresAt })),
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
