/**
 * The day on which a user was last seen (functions/README.md, Last seen), in an item of its own, so that no change of
 * the user is overtaken by a login.
 */
import { itemKey, usersIndexes } from '../../dynamodb/tables.ts';
import { loggingFaults } from '../../ground/log.ts';
import { config, hasSessions } from '../../ground/settings.ts';
import { dayInMilliseconds, longestDelay, parseInstant } from '../../ground/time.ts';
import { getItem, updateIf } from '../../users/item.ts';

export interface Seen {
  readonly user_id: number;
  /** UTC, such as 2026-08-30. */
  readonly seen_on: string;
}

/** The values of the index's partition key, over which users are spread by their ids. */
export const seenShards = ['s0', 's1', 's2', 's3', 's4', 's5', 's6', 's7'] as const;

/**
 * Notes that a user is here today (UTC), where there are sessions. A user of whom a session was used today is already
 * noted, and a later day stays. Never throws, and takes a second at most on AWS: a fault is logged.
 * @param sessions the sessions of the user, if they are read anyway, also sessions that have ended; `used` is in
 *   milliseconds since 1970
 */
export async function noteSeen(
  id: number,
  sessions: readonly { readonly used: number }[] = [],
  now = new Date(),
): Promise<void> {
  const isOfToday = (time: number) => dayNumber(time) === dayNumber(now.getTime());
  if (!hasSessions(config) || sessions.some(({ used }) => isOfToday(used))) return;
  const today = now.toISOString().slice(0, 10);
  const { partitionKey, sortKey } = usersIndexes.lastSeen;
  const update = {
    UpdateExpression: 'SET #shard = :shard, #sort = :sort, seen_on = :day, user_id = :id',
    ConditionExpression: 'attribute_not_exists(pk) OR seen_on < :day',
    ExpressionAttributeNames: { '#shard': partitionKey.name, '#sort': sortKey.name },
    ExpressionAttributeValues: {
      ':shard': seenShards[id % seenShards.length],
      ':sort': `${today}#${String(id).padStart(16, '0')}`,
      ':day': today,
      ':id': id,
    },
  };
  const work = () => updateIf(seenKey(id), update, { timeout: longestDelay() });
  await loggingFaults('seen-not-noted', work);
}

/** The day on which a user was last seen; null when no sign-in is recorded. */
export async function readSeen(id: number): Promise<string | null> {
  return dayIn(await getItem(seenKey(id))) ?? null;
}

/** The day of an item; undefined if it has none, because somebody has changed it. */
export function dayIn(seen: { readonly seen_on?: unknown } | undefined): string | undefined {
  const { seen_on: day } = seen ?? {};
  const isDay = typeof day === 'string' && parseInstant(day)?.slice(0, 10) === day;
  return isDay ? day : undefined;
}

export function seenKey(id: number) {
  return itemKey('seen#*', id);
}

/** The days (UTC) from 1970 to a time in milliseconds. */
function dayNumber(time: number): number {
  return Math.floor(time / dayInMilliseconds);
}
