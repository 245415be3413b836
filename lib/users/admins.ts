import { adminMade, logWarning } from '../log.ts';
import { config } from '../settings.ts';
import { userKey } from './items.ts';
import { listUsers } from './store.ts';
import type { User } from './user.ts';

/**
 * All admins, oldest account first, from an index that may be a second behind.
 * @throws {DomainError} STORAGE_FAULT
 */
export const listAdmins = async (): Promise<readonly User[]> => {
  const admins: User[] = [];
  let after: string | undefined;
  do {
    const { users, next } = await listUsers({ role: 'admin', after });
    admins.push(...users);
    after = next;
  } while (after !== undefined);
  return admins;
};

const isAdmin = {
  ConditionExpression: '#role = :admin',
  ExpressionAttributeNames: { '#role': 'role' },
  ExpressionAttributeValues: { ':admin': 'admin' },
};

/** The item of a transaction that requires a user to be an admin at that instant. */
export const requireAdmin = (id: number) => ({
  ConditionCheck: { ...isAdmin, TableName: config.usersTable, Key: userKey(id) },
});

/**
 * Tries a change of a user after which there must be another admin. The other admins are tried in
 * turn, because the index may list one who is no admin any more.
 * @param change gets the id of another admin; returns undefined if that user is no admin
 * @returns undefined when there is no other admin
 * @throws {DomainError} STORAGE_FAULT, and what the change throws
 */
export const besideAnotherAdmin = async <T>(
  id: number,
  change: (otherAdmin: number) => Promise<T | undefined>,
): Promise<T | undefined> => {
  for (const other of await listAdmins()) {
    const changed = other.id === id ? undefined : await change(other.id);
    if (changed !== undefined) return changed;
  }
  return undefined;
};

/**
 * Logs that the API has made a user an admin. The alarm AdminMade looks for this line.
 * @param by the caller's id
 */
export const logAdminMade = (
  id: number,
  { by, requestId }: { by: number; requestId: string },
): void => logWarning(adminMade, { requestId, user_id: id, by });
