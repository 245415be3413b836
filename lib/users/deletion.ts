/** Deletions of users, whom others may change at the same time. */
import { type Step, transact } from '../dynamodb/client.ts';
import { config, hasSessions } from '../settings.ts';
import { besideAnotherAdmin } from './admins.ts';
import { unlinking } from './identities.ts';
import { type StoredUser, userKey } from './items.ts';
import { sessionsKey } from './sessions.ts';
import { releaseEmail, rewriteUser, unchanged } from './write.ts';

/**
 * Deletes a user whom nobody has changed since the user was read, and frees the address and the identities.
 * @param steps further conditions at that instant
 * @returns the user; undefined when others have changed the user since
 */
const remove = async (user: StoredUser, ...steps: readonly Step[]) => {
  const deletion = (key: { pk: string }) => ({ TableName: config.usersTable, Key: key });
  const isRemoved = await transact([
    [{ Delete: { ...deletion(userKey(user.id)), ...unchanged(user) } }],
    releaseEmail(user),
    ...unlinking(user),
    ...steps,
    ...(hasSessions(config) ? [[{ Delete: deletion(sessionsKey(user.id)) }] as const] : []),
  ]);
  return isRemoved ? user : undefined;
};

/**
 * Deletes a user and frees the address.
 * @returns the user, as it was
 * @throws {DomainError} USER_NOT_FOUND, STORAGE_FAULT
 */
export const deleteUser = (id: number): Promise<StoredUser> =>
  rewriteUser(id, (user) => remove(user));

/**
 * Deletes a user, unless that is the last admin: when two admins delete themselves, one of them fails.
 * @param known the user as read already
 * @param check throws unless the user, as read, may be deleted
 * @returns the user, as it was
 * @throws {DomainError} USER_NOT_FOUND, LAST_ADMIN, STORAGE_FAULT, and what the check throws
 */
export const deleteUnlessLastAdmin = (
  known: StoredUser,
  check: (user: StoredUser) => Promise<void>,
): Promise<StoredUser> => {
  const attempt = async (user: StoredUser) => {
    await check(user);
    return user.role === 'admin'
      ? besideAnotherAdmin(user.id, 'LAST_ADMIN', (otherIsAdmin) => remove(user, otherIsAdmin))
      : remove(user);
  };
  return rewriteUser(known.id, attempt, known);
};
