/** Deletions of users, whom others may change at the same time. */
import { type TransactItem, transact } from '../dynamodb/client.ts';
import { DomainError } from '../errors.ts';
import { config, hasSessions } from '../settings.ts';
import { besideAnotherAdmin, requireAdmin } from './admins.ts';
import { readPermitted, readThenWrite } from './changes.ts';
import { type StoredUser, toUser, userKey } from './items.ts';
import { sessionsKey } from './sessions.ts';
import { readUser } from './store.ts';
import { type Permission, releaseEmail, whileAsRead } from './update.ts';
import type { User } from './user.ts';

/**
 * Deletes a user, provided that the user is still as it was read, and frees its address.
 * @param required a further condition at that instant
 * @returns undefined when that one does not hold
 */
const deleteAsRead = async (
  user: StoredUser,
  permission?: Permission,
  required: readonly TransactItem[] = [],
): Promise<'written' | 'conflict' | undefined> => {
  const [userChanged, addressChanged, broken] = await transact([
    {
      Delete: {
        TableName: config.usersTable,
        Key: userKey(user.id),
        // The returned user is then the one that was deleted.
        ...whileAsRead(user, permission),
      },
    },
    releaseEmail(user),
    ...required,
    ...(hasSessions(config)
      ? [{ Delete: { TableName: config.usersTable, Key: sessionsKey(user.id) } }]
      : []),
  ]);
  if (userChanged || addressChanged) return 'conflict';
  return broken ? undefined : 'written';
};

/**
 * Deletes a user and frees its email.
 * @returns the user, as it was
 * @throws {DomainError} USER_NOT_FOUND, STORAGE_FAULT
 */
export const deleteUser = async (id: number): Promise<User> => {
  const write = async (user: StoredUser) => (await deleteAsRead(user)) ?? 'conflict';
  const { read } = await readThenWrite(() => readUser(id), write);
  return toUser({ ...read });
};

/**
 * Deletes the user to whom a permission applies, unless that is the last admin: when two admins delete
 * themselves, one of them fails.
 * @returns the user, as it was
 * @throws {DomainError} USER_NOT_FOUND, LAST_ADMIN, STORAGE_FAULT, and the errors of the permission
 */
export const deleteSelf = async (permission: Permission): Promise<User> => {
  const write = async (user: StoredUser) => {
    const written = await (user.role === 'admin'
      ? besideAnotherAdmin(user.id, (other) =>
          deleteAsRead(user, permission, [requireAdmin(other)]),
        )
      : deleteAsRead(user, permission));
    if (!written) throw new DomainError('LAST_ADMIN');
    return written;
  };
  const { read } = await readThenWrite(
    (attempt) => readPermitted(permission.user.id, permission, attempt),
    write,
  );
  return toUser({ ...read });
};
