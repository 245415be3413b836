/** The list of the users who were last seen before a day (functions/README.md, Last seen). */
import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { send } from '../../dynamodb/client.ts';
import { readPage } from '../../dynamodb/page.ts';
import { usersIndexes } from '../../dynamodb/tables.ts';
import { loggingFaults } from '../../ground/log.ts';
import { config } from '../../ground/settings.ts';
import { longestDelay } from '../../ground/time.ts';
import { getItems, type StoredUser, userKey } from '../../users/item.ts';
import { mostWhole } from '../../users/list.ts';
import { dayIn, type Seen, seenKey, seenShards } from './seen.ts';

/**
 * One page of the users who were last seen before a day, with all their data, as last written. An id without a user,
 * which a login beside a deletion leaves, is left out and its item deleted, and an item without a day is left out, so
 * that a page may be shorter.
 * @param day UTC, such as 2026-08-30
 * @param order `asc`: whoever was seen longest ago comes first
 * @param limit users at most, from 1 to 100; absent: 100
 * @param after the sort key after which the page begins
 * @returns the users, each with the day, and the sort key after which the next page begins
 * @throws {DomainError} STORAGE_FAULT, also where the table lacks the index
 */
export async function listSeenBefore({
  day,
  order,
  limit = mostWhole,
  after,
}: {
  day: string;
  order: 'asc' | 'desc';
  limit?: number | undefined;
  after?: string | undefined;
}): Promise<{
  seen: readonly { user: StoredUser; seenOn: string }[];
  next: string | undefined;
}> {
  const { entries, next } = await readPage({
    table: config.usersTable,
    index: usersIndexes.lastSeen,
    partitions: seenShards,
    order,
    attributes: usersIndexes.lastSeen.include,
    to: day,
    limit,
    after,
  });
  const listed = entries as unknown as readonly Seen[];
  const users = await getItems<StoredUser>(listed.map(({ user_id }) => userKey(user_id)));
  await Promise.all(listed.filter((_, i) => !users[i]).map(deleteSeen));
  const seen = listed.flatMap((each, i) => {
    const [user, seenOn] = [users[i], dayIn(each)];
    return user && seenOn ? { user, seenOn } : [];
  });
  return { seen, next };
}

/** Deletes the item of a user who was deleted; no id is given twice. Never throws: a fault is logged. */
async function deleteSeen({ user_id }: Seen): Promise<void> {
  const command = new DeleteCommand({ TableName: config.usersTable, Key: seenKey(user_id) });
  await loggingFaults('seen-not-deleted', () => send(command, { timeout: longestDelay() }));
}
