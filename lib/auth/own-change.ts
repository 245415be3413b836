/** The conditions under which users change themselves, or those whom they made. */
import { DomainError, missingField } from '../errors.ts';
import { config } from '../settings.ts';
import type { Bearer } from '../users/bearer.ts';
import type { StoredUser } from '../users/items.ts';
import { verifyPassword } from '../users/password.ts';
import type { UserChanges } from '../users/schema.ts';
import { readUser } from '../users/store.ts';
import type { Permission } from '../users/update.ts';
import { countAttempt, loginCounters, requireNoWait } from './counters.ts';

/** What users ask for of themselves with their current password. */
export interface OwnRequest {
  readonly id: number;
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

/** Where sessions are revocable, the session of the request must not be ended before the change. */
const whileOpen = (caller: Bearer | undefined): Pick<Permission, 'endsWith' | 'session'> => ({
  endsWith: {},
  ...(caller ? { session: caller.session } : {}),
});

/**
 * Checks that users may change themselves: their session, where sessions are revocable, and their
 * current password, where a new password or another address requires it.
 * @param caller the user, if authentication has read it
 * @returns undefined where neither is checked
 * @throws {DomainError} USER_NOT_FOUND, CURRENT_PASSWORD_REQUIRED, TOO_MANY_ATTEMPTS,
 *   CURRENT_PASSWORD_WRONG, STORAGE_FAULT
 */
export const checkOwnChange = async (
  change: OwnChange,
  caller: Bearer | undefined,
): Promise<Permission | undefined> => {
  const { password, email } = change.changes;
  const mayRequirePassword =
    config.currentPassword === 'required' && (password !== undefined || email !== undefined);
  if (!caller && !mayRequirePassword) return undefined;
  const user = caller ?? (await readUser(change.id));
  const session = whileOpen(caller);
  if (!mayRequirePassword) return { user, ...session };
  if (password === undefined && email === user.email) {
    // The address is sent back unchanged. That requires no password, unless it changes before the
    // write.
    return { user, ...session, endsWith: { email: 'CURRENT_PASSWORD_REQUIRED' } };
  }
  return { user, ...session, currentPassword: await requirePassword(user, change) };
};

/** The permission of users to change themselves while their session lasts. */
export const ownPermission = (caller: Bearer): Permission => ({
  user: caller,
  ...whileOpen(caller),
});

/**
 * Checks what users ask for of themselves: their session, where sessions are revocable, and their
 * current password.
 * @param caller the user, if authentication has read it
 * @throws {DomainError} USER_NOT_FOUND, CURRENT_PASSWORD_REQUIRED, TOO_MANY_ATTEMPTS,
 *   CURRENT_PASSWORD_WRONG, STORAGE_FAULT
 */
export const checkOwnRequest = async (
  request: OwnRequest,
  caller: Bearer | undefined,
): Promise<Permission> => {
  const user = caller ?? (await readUser(request.id));
  const currentPassword = await requirePassword(user, request);
  return { user, ...whileOpen(caller), currentPassword };
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
