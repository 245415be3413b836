/** Changes of users, whom others may change at the same time. */
import { retryWrite } from '../dynamodb/client.ts';
import { DomainError, type ErrorCode, withUnknownOutcome } from '../errors.ts';
import { patiently } from '../time.ts';
import type { StoredUser } from './items.ts';
import { verifyPassword } from './password.ts';
import { isEnded } from './sessions.ts';
import { readUser } from './store.ts';
import {
  type ChangeContext,
  type Permission,
  type UserUpdate,
  updated,
  type Written,
  writeUpdate,
} from './update.ts';
import type { User } from './user.ts';

/**
 * Milliseconds for which writers that race for one user try again; one of them succeeds each time.
 */
const contentionTimeout = () => patiently(3000);

/** Attempts that a writer has, however slow the machine is. */
const minAttempts = 3;

/**
 * Requires that a permission still holds for a user who was read again.
 * @throws {DomainError} the error of the permission, TOKEN_INVALID, or CURRENT_PASSWORD_WRONG
 */
const requirePermission = async (
  user: StoredUser,
  { user: permitted, endsWith, session, currentPassword }: Permission,
): Promise<void> => {
  if (session && isEnded(user, session)) throw new DomainError('TOKEN_INVALID');
  const fields = Object.entries(endsWith) as [keyof typeof endsWith, ErrorCode][];
  for (const [field, code] of fields) {
    if (user[field] !== permitted[field]) throw new DomainError(code);
  }
  if (currentPassword === undefined || user.password_hash === permitted.password_hash) return;
  // The hash may be another one of the same password.
  if (!(await verifyPassword(currentPassword, user.password_hash))) {
    throw new DomainError('CURRENT_PASSWORD_WRONG');
  }
};

/**
 * The user with whom the permission was checked; a further attempt reads the user again.
 * @throws {DomainError} USER_NOT_FOUND, STORAGE_FAULT, and the errors of the permission
 */
export const readPermitted = async (
  id: number,
  permission: Permission | undefined,
  attempt: number,
): Promise<StoredUser> => {
  if (permission && attempt === 0) return permission.user;
  const user = await readUser(id);
  if (permission) await requirePermission(user, permission);
  return user;
};

/**
 * Reads a user and writes a change of what was read, again for as long as others change the user
 * in between.
 * @returns the user as it was before the first attempt, and as it was read for the last one
 * @throws {DomainError} STORAGE_FAULT, and what the two functions throw
 */
export const readThenWrite = async (
  readOnce: (attempt: number) => Promise<StoredUser>,
  write: (user: StoredUser) => Promise<Written>,
): Promise<{ before: User; read: StoredUser }> => {
  // The user before the first write whose outcome is unknown.
  let unsure: User | undefined;
  const tryOnce = async (attempt: number) => {
    const read = await readOnce(attempt);
    const written = await write(read);
    if (written === 'unknown') unsure ??= read;
    return written === 'written' ? { before: unsure ?? read, read } : undefined;
  };
  try {
    const until = performance.now() + contentionTimeout();
    return await retryWrite(tryOnce, { attempts: minAttempts, until });
  } catch (error) {
    throw unsure ? withUnknownOutcome(error) : error;
  }
};

/**
 * Changes the given fields of a user, and the email item with the email. Which changes end sessions
 * is told in update.ts.
 * @returns the user before and after the change
 * @throws {DomainError} FORBIDDEN, USER_NOT_FOUND, EMAIL_REGISTERED, STORAGE_FAULT, and the errors
 *   of the permission
 */
export const updateUser = async (
  id: number,
  update: UserUpdate,
  context: ChangeContext = {},
): Promise<{ before: User; after: StoredUser }> => {
  const isNone = Object.keys(update).length === 0;
  const { email } = update;
  const { provesAddress } = context;
  const updateOf = (user: User): UserUpdate =>
    provesAddress === undefined || email === undefined || email === user.email
      ? update
      : { ...update, email_verified: provesAddress };
  const write = async (user: StoredUser) =>
    isNone ? 'written' : writeUpdate(user, updateOf(user), context);
  const { before, read } = await readThenWrite(
    (attempt) => readPermitted(id, context.permission, attempt),
    write,
  );
  return { before, after: updated(read, updateOf(read)) };
};
