/** The admins: users who have the role and are not suspended. */
import { DomainError, type ErrorCode } from '../ground/errors.ts';
import type { Change, ListedUser, StoredUser } from './item.ts';
import { listUsers } from './list.ts';
import { isSuspended } from './user.ts';
import { adminRequired } from './write.ts';

/**
 * Tries a write after which a user is no longer an admin, on the condition that another user is an admin. The write is
 * tried with each other admin in turn, because the index may list users who are no longer admins.
 * @param error thrown when there is no other admin
 * @param write gets the condition that another user is an admin; if the user is not an admin, there is no condition
 */
export async function keepingAnAdmin<T>(
  { id, role }: StoredUser,
  error: ErrorCode,
  write: (otherAdminRequired: Change) => Promise<T>,
): Promise<T> {
  if (role !== 'admin') return write({});
  for (const other of await listAdmins()) {
    if (other.id === id) continue;
    try {
      return await write(adminRequired(other.id, error));
    } catch (fault) {
      if (!(fault instanceof DomainError) || fault.code !== error) throw fault;
    }
  }
  throw new DomainError(error);
}

/** All admins, oldest account first, from an index that may lag behind by a second. */
export async function listAdmins(): Promise<readonly ListedUser[]> {
  const admins: ListedUser[] = [];
  let after: string | undefined;
  do {
    const { users, next } = await listUsers({ role: 'admin', order: 'asc', after });
    admins.push(...users.filter((user) => !isSuspended(user)));
    after = next;
  } while (after !== undefined);
  return admins;
}
