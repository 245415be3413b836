/**
 * The item of an Idempotency-Key of a machine (functions/README.md, Entries of your own services). It says what an
 * earlier request with the key contained, and the ids and times that the entries of that request have.
 */
import { hash, randomUUID } from 'node:crypto';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { makeAuditId } from '../../audit/entry.ts';
import { timeToLive } from '../../audit/record.ts';
import { conditionItem, Overtaken, send, updateOnce } from '../../dynamodb/client.ts';
import { itemKey } from '../../dynamodb/tables.ts';
import { DomainError, type FieldFault, namedError, sentenceOf } from '../../ground/errors.ts';
import { config } from '../../ground/settings.ts';
import { day, dayInMilliseconds, seconds } from '../../ground/time.ts';
import { getItem } from '../../users/item.ts';
import { type PostedEntry, timeFaults } from './posted-entry.ts';

export interface Post {
  readonly machine: number;
  readonly key: string;
  readonly entries: readonly PostedEntry[];
  readonly request_id: string;
}

/** The id, the time and the end of an entry, which are settled before it is stored. */
export interface Slot {
  readonly id: number;
  readonly created_at: string;
  /** The time to live, in seconds since 1970; null: the entry is kept for ever. */
  readonly expires_at: number | null;
}

export interface KeyItem {
  readonly pk: string;
  readonly content: string;
  /** When the key was first sent. */
  readonly at: string;
  readonly request_id: string;
  /** One for each entry of the request, in their order. */
  readonly slots: readonly Slot[];
  readonly version: string;
  readonly expires_at: number;
}

/** @throws {DomainError} IDEMPOTENCY_KEY_REQUIRED, IDEMPOTENCY_KEY_INVALID */
export function requireIdempotencyKey(
  headers: Readonly<Record<string, string | undefined>>,
): string {
  const key = headers['idempotency-key'];
  if (key === undefined) throw new DomainError('IDEMPOTENCY_KEY_REQUIRED');
  if (!/^[!-~]{1,64}$/.test(key)) throw new DomainError('IDEMPOTENCY_KEY_INVALID');
  return key;
}

/**
 * Writes the item of a key, or finds the item that an earlier request has written.
 * @param random returns an integer from 0 up to, but not including, its argument
 * @returns the item, and whether this request has written it
 * @throws {DomainError} FIELD_INVALID for a new key with an entry whose time is too far from now
 */
export async function claimKey(post: Post, now: Date, random: (below: number) => number) {
  const oldest = new Date(now.getTime() - keyDays * dayInMilliseconds).toISOString();
  const faults = timeFaults(post.entries, now);
  if (faults.length > 0) {
    const known = await getItem<KeyItem>(keyOf(post));
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

/** The item of a key that was written. It fails also when DynamoDB has deleted the item. */
export async function requireKey(post: Post): Promise<KeyItem> {
  const item = await getItem<KeyItem>(keyOf(post));
  if (!item) throw new DomainError('STORAGE_FAULT', { cause: namedError('KeyDeleted') });
  return item;
}

/**
 * Gives the entries at some places new ids and the present time.
 * @throws {Overtaken} when another request has changed the item
 */
export async function moveToNow(
  item: KeyItem,
  places: readonly number[],
  now: Date,
  random: (below: number) => number,
): Promise<KeyItem> {
  const drawn = drawSlots(places.length, now, random);
  const moved = {
    slots: item.slots.map((slot, i) => drawn[places.indexOf(i)] ?? slot),
    version: randomUUID(),
  };
  const isMoved = await updateOnce(
    {
      TableName: config.usersTable,
      Key: { pk: item.pk },
      ConditionExpression: 'version = :read',
      UpdateExpression: 'SET slots = :slots, version = :version',
      ExpressionAttributeValues: {
        ':read': item.version,
        ':slots': moved.slots,
        ':version': moved.version,
      },
    },
    ({ version }) => version === moved.version,
  );
  if (!isMoved) throw new Overtaken();
  return { ...item, ...moved };
}

/** SHA-256, in hexadecimal digits, of the entries without their ids and times. */
export function contentOf(entries: readonly PostedEntry[]): string {
  const values = entries.map((entry) => [
    ...[entry.action, entry.resource, entry.result, entry.resourceId ?? null],
    ...[entry.userId ?? null, entry.ipAddress ?? null, entry.userAgent ?? null],
    ...[entry.details ?? null, entry.occurredAt ?? null],
  ]);
  return hash('sha256', JSON.stringify(values));
}

/** For how long a key counts, and when DynamoDB may delete its item, in days. */
const keyDays = 8;
const itemDays = 9;

function refusal(faults: readonly FieldFault[]): DomainError {
  const [first] = faults as readonly [FieldFault];
  return new DomainError('FIELD_INVALID', { message: sentenceOf(first), faults });
}

function keyOf({ machine, key }: Post) {
  return itemKey('posted#*', machine, key);
}

function newItem(post: Post, now: Date, random: (below: number) => number): KeyItem {
  const { entries, request_id } = post;
  return {
    ...keyOf(post),
    content: contentOf(entries),
    at: now.toISOString(),
    request_id,
    slots: drawSlots(entries.length, now, random),
    version: randomUUID(),
    expires_at: seconds(now) + itemDays * day,
  };
}

/** Slots of one time with different ids, in the order of the ids, in which the trail shows the entries. */
function drawSlots(count: number, now: Date, random: (below: number) => number): readonly Slot[] {
  const ids = new Set<number>();
  while (ids.size < count) ids.add(makeAuditId(now, random));
  const created_at = now.toISOString();
  const { expiresAt = null } = timeToLive({ created_at }, config.auditRetentionDays);
  return [...ids].sort((a, b) => a - b).map((id) => ({ id, created_at, expires_at: expiresAt }));
}
