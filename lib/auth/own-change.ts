/** The conditions under which users change themselves, or those whom they made. */
import { DomainError, missingField } from '../errors.ts';
import type { Bearer } from '../users/bearer.ts';
import type { StoredUser } from '../users/items.ts';
import { verifyPassword } from '../users/password.ts';
import type { UserChanges } from '../users/schema.ts';
import { readUser } from '../users/store.ts';
import type { Permission } from '../users/update.ts';
import { countAttempt, loginCounters, requireNoWait } from './counters.ts';

/** What users ask for of themselves with their current password. */
export interface OwnRequest {
  /** The field `currentPassword` of the body. */
  readonly currentPassword: unknown;
  readonly sourceIp: string;
}

/** A change that users ask for of themselves. */
export interface OwnChange extends OwnRequest {
  readonly changes: UserChanges;
}

/**
 * The field `currentPassword` of a body.
 * @throws {DomainError} CURRENT_PASSWORD_REQUIRED unless it is text
 */
export const parseCurrentPassword = (value: unknown): string => {
  if (typeof value === 'string' && value !== '') return value;
  throw missingField('CURRENT_PASSWORD_REQUIRED', 'currentPassword');
};

/**
 * Requires the current password of a user. A wrong one counts as a failed login.
 * @throws {DomainError} CURRENT_PASSWORD_REQUIRED, TOO_MANY_ATTEMPTS, CURRENT_PASSWORD_WRONG
 */
export const requirePassword = async (user: StoredUser, request: OwnRequest): Promise<string> => {
  const password = parseCurrentPassword(request.currentPassword);
  const counters = await loginCounters(user.email, request.sourceIp, user);
  const seen = await requireNoWait(counters);
  if (!(await verifyPassword(password, user.password_hash))) {
    const { refusal } = await countAttempt(seen);
    throw refusal ?? new DomainError('CURRENT_PASSWORD_WRONG');
  }
  await requireNoWait(counters);
  return password;
};

/** The permission of users to change themselves while their session lasts. */
export const ownPermission = (caller: Bearer): Permission => ({
  user: caller,
  session: caller.session,
  endsWith: {},
});

/**
 * Checks what users ask for of themselves: their current password.
 * @throws {DomainError} CURRENT_PASSWORD_REQUIRED, TOO_MANY_ATTEMPTS, CURRENT_PASSWORD_WRONG,
 *   STORAGE_FAULT
 */
export const checkOwnRequest = async (
  request: OwnRequest,
  caller: Bearer,
): Promise<Permission> => ({
  ...ownPermission(caller),
  currentPassword: await requirePassword(caller, request),
});

/**
 * Checks that users may change themselves: a new password or another address requires their current
 * password.
 * @throws {DomainError} the same as {@link checkOwnRequest}
 */
export const checkOwnChange = async (change: OwnChange, caller: Bearer): Promise<Permission> => {
  const { password, email } = change.changes;
  if (password === undefined && email === undefined) return ownPermission(caller);
  if (password === undefined && email === caller.email) {
    // The address is sent back unchanged. That requires no password, unless it changes before the
    // write.
    return { ...ownPermission(caller), endsWith: { email: 'CURRENT_PASSWORD_REQUIRED' } };
  }
  return checkOwnRequest(change, caller);
};

/**
 * Checks that a caller created a user, and may therefore change that user. This permission ends when
 * anybody else gives the user a password or an address, or the user becomes an admin or gets a second
 * factor: until then the caller could log in as that user anyway.
 * @throws {DomainError} USER_NOT_FOUND, FORBIDDEN, STORAGE_FAULT
 */
export const checkMaker = async (id: number, callerId: number): Promise<Permission> => {
  const user = await readUser(id);
  if (user.made_by !== callerId) throw new DomainError('FORBIDDEN');
  return { user, endsWith: { made_by: 'FORBIDDEN' } };
};
