/**
 * How entries that a machine posts are stored once, however often their request is sent (functions/README.md, Entries
 * of your own services). The item of the request's key is written first. Every byte of an entry follows from it and
 * from the request, and an entry that is stored is never written over: it may have been sealed.
 */
import { hash, randomInt } from 'node:crypto';
import { type AuditEntry, makeEntry } from '../../audit/entry.ts';
import { drawId, maxDraws, writeEntry } from '../../audit/record.ts';
import { readItems, untilWritten } from '../../dynamodb/client.ts';
import { DomainError } from '../../ground/errors.ts';
import { config } from '../../ground/settings.ts';
import type { PostedEntry } from './posted-entry.ts';
import {
  claimKey,
  contentOf,
  type KeyItem,
  moveToNow,
  type Post,
  requireKey,
  type Slot,
} from './posted-key.ts';

/** The id and the time of an entry, as the response has them. */
export type Stored = Pick<AuditEntry, 'id' | 'created_at'>;

/**
 * Stores the entries of a request, or completes an earlier request with the same key.
 * @param random returns an integer from 0 up to, but not including, its argument
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
 * @throws {DomainError} IDEMPOTENCY_KEY_USED, or STORAGE_FAULT, after which some entries may be stored
 */
async function complete(
  item: KeyItem,
  post: Post,
  now: Date,
  random: (below: number) => number,
): Promise<readonly Stored[]> {
  if (item.content !== contentOf(post.entries)) throw new DomainError('IDEMPOTENCY_KEY_USED');
  const isLate = (time: string) => now.getTime() - Date.parse(time) > lateAfter;
  const late = item.slots.flatMap(({ created_at }, i) => (isLate(created_at) ? [i] : []));
  const there = await findStored(item, post, late);
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

async function findStored(item: KeyItem, post: Post, places: readonly number[]) {
  const found = new Map<number, Stored>();
  let open = places.map((i) => ({ i, ...plannedEntry(item, post, i) }));
  for (let draw = 0; draw < maxDraws && open.length > 0; draw += 1) {
    const drawn = open.map((one) => ({
      ...one,
      wanted: drawId(one.entry, one.write.writeId, draw),
    }));
    const keys = drawn.map(({ wanted }) => ({ id: { N: String(wanted.id) } }));
    const items = await readItems(config.auditTable, keys);
    const writes = new Map(items.map(({ id, write_id }) => [id?.N, write_id?.S]));
    for (const { i, write, wanted } of drawn) {
      if (writes.get(String(wanted.id)) === write.writeId) found.set(i, wanted);
    }
    // Another entry has the id, so that this one has the next one, if it is stored.
    open = drawn.filter(({ i, wanted }) => writes.has(String(wanted.id)) && !found.has(i));
  }
  return found;
}

/** Stores an entry unless it is stored. @returns it with the id that it has */
function storeEntry(item: KeyItem, post: Post, i: number): Promise<AuditEntry> {
  const { entry, write } = plannedEntry(item, post, i);
  return writeEntry(entry, write);
}

function plannedEntry({ slots, request_id: requestId }: KeyItem, post: Post, i: number) {
  const { machine, key, entries } = post;
  // The item is for the same content, and so has a slot for each entry.
  const [posted, { id, created_at, expires_at }] = [entries[i], slots[i]] as [PostedEntry, Slot];
  // Another time of the entry changes the write id.
  const writeId = hash('sha256', JSON.stringify([machine, key, i, created_at])).slice(0, 32);
  return {
    entry: { ...entryOf(posted, machine, new Date(created_at)), id },
    write: { writeId, requestId, expiresAt: expires_at ?? undefined },
  };
}

function entryOf(posted: PostedEntry, machine: number, now: Date): AuditEntry {
  const { resourceId, userId, ipAddress, userAgent, details, occurredAt, ...rest } = posted;
  return makeEntry(
    {
      ...rest,
      resource_id: resourceId ?? undefined,
      user_id: userId ?? undefined,
      ip_address: ipAddress ?? undefined,
      user_agent: userAgent ?? undefined,
      details,
      machine_id: machine,
      occurred_at: occurredAt ?? undefined,
    },
    { now },
  );
}
