/** The conditions under which callers who are not admins may change a user. */

import { DomainError } from '../errors.ts';
import { config } from '../settings.ts';
import type { StoredUser } from '../users/items.ts';
import { verifyPassword } from '../users/password.ts';
import { parseCurrentPassword, type UserChanges } from '../users/schema.ts';
import { findStoredUser } from '../users/store.ts';
import type { Permission } from '../users/update.ts';
import { countAttempt, requireNoWaitNow } from './counters.ts';
import { loginCounters } from './login-protection.ts';

/** A change that users ask for of themselves. */
export interface OwnChange {
  readonly id: number;
  readonly changes: UserChanges;
  /** The field `currentPassword` of the body. */
  readonly currentPassword: unknown;
  readonly sourceIp: string;
}

/** @throws {DomainError} USER_NOT_FOUND, STORAGE_FAULT */
const findExisting = async (id: number): Promise<StoredUser> => {
  const user = await findStoredUser(id);
  if (!user) throw new DomainError('USER_NOT_FOUND');
  return user;
};

/** Requires the current password. A wrong one counts as a failed login. */
const requirePassword = async (user: StoredUser, change: OwnChange): Promise<string> => {
  const password = parseCurrentPassword(change.currentPassword);
  const counters = await loginCounters(user.email, change.sourceIp);
  const seen = await requireNoWaitNow(counters);
  if (!(await verifyPassword(password, user.password_hash))) {
    await countAttempt(seen);
    throw new DomainError('CURRENT_PASSWORD_WRONG');
  }
  await requireNoWaitNow(counters);
  return password;
};

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
  caller: StoredUser | undefined,
): Promise<Permission | undefined> => {
  const { password, email } = change.changes;
  const mayRequirePassword =
    config.currentPassword === 'required' && (password !== undefined || email !== undefined);
  if (!caller && !mayRequirePassword) return undefined;
  const user = caller ?? (await findExisting(change.id));
  const session = caller ? ({ session_number: 'TOKEN_INVALID' } as const) : {};
  if (!mayRequirePassword) return { user, endsWith: session };
  if (password === undefined && email === user.email) {
    // The address is sent back as it is, which requires no password for as long as it stays.
    return { user, endsWith: { ...session, email: 'CURRENT_PASSWORD_REQUIRED' } };
  }
  return { user, endsWith: session, currentPassword: await requirePassword(user, change) };
};

/**
 * Checks that a caller created a user, and may therefore change it. This permission ends when
 * anybody else gives the user a password or an address: until then the caller could log in as that
 * user anyway.
 * @throws {DomainError} USER_NOT_FOUND, FORBIDDEN, STORAGE_FAULT
 */
export const checkMaker = async (id: number, caller: number): Promise<Permission> => {
  const user = await findExisting(id);
  if (user.made_by !== caller) throw new DomainError('FORBIDDEN');
  return { user, endsWith: { made_by: 'FORBIDDEN' } };
};
