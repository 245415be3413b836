/** What permits a change beside the token or the role, and must hold until it is written. */

import { DomainError } from '../errors.ts';
import { config } from '../settings.ts';
import type { StoredUser } from '../users/items.ts';
import { verifyPassword } from '../users/password.ts';
import { parseCurrentPassword, type UserChanges } from '../users/schema.ts';
import { findStoredUser } from '../users/store.ts';
import type { ChangeContext } from '../users/update.ts';
import { countAttempt, requireNoWaitNow } from './counters.ts';
import { loginCounters } from './login-protection.ts';

/** A change that a user asks for of itself. */
export interface OwnChange {
  readonly id: number;
  readonly changes: UserChanges;
  /** What the body says that its password is. */
  readonly currentPassword: unknown;
  readonly sourceIp: string;
}

/** Whether it takes the current password; an address that is sent back as it is is no change. */
const takesPassword = ({ email }: StoredUser, { changes }: OwnChange): boolean =>
  changes.password !== undefined || (changes.email !== undefined && changes.email !== email);

/** Counts a wrong one like a failed login. */
const requirePassword = async (user: StoredUser, change: OwnChange): Promise<void> => {
  const password = parseCurrentPassword(change.currentPassword);
  const counters = await loginCounters(user.email, change.sourceIp);
  const seen = await requireNoWaitNow(counters);
  if (!(await verifyPassword(password, user.password_hash))) {
    await countAttempt(seen);
    throw new DomainError('CURRENT_PASSWORD_WRONG');
  }
  await requireNoWaitNow(counters);
};

const isRequired = ({ changes: { password, email } }: OwnChange): boolean =>
  config.currentPassword === 'required' && (password !== undefined || email !== undefined);

/**
 * Checks that a user may change itself: its session, where sessions are revocable, and its current
 * password, where that is required.
 * @param caller the user, where authentication has read it
 * @returns what the change must be held to; undefined where neither is checked
 * @throws {DomainError} TOKEN_INVALID, USER_NOT_FOUND, CURRENT_PASSWORD_REQUIRED,
 *   TOO_MANY_ATTEMPTS, CURRENT_PASSWORD_WRONG, STORAGE_FAULT
 */
export const checkOwnChange = async (
  change: OwnChange,
  caller: StoredUser | undefined,
): Promise<ChangeContext['permission']> => {
  const required = isRequired(change);
  if (!caller && !required) return undefined;
  const check = async (user: StoredUser) => {
    if (caller && user.session_number !== caller.session_number) {
      throw new DomainError('TOKEN_INVALID');
    }
    if (required && takesPassword(user, change)) await requirePassword(user, change);
  };
  const user = caller ?? (await findStoredUser(change.id));
  if (!user) throw new DomainError('USER_NOT_FOUND');
  await check(user);
  return { user, check };
};

/**
 * Checks that a caller may change a user because it made that user, and the user has no password or
 * address of anybody else since: whoever made it could log in as it anyway.
 * @returns what the change must be held to
 * @throws {DomainError} USER_NOT_FOUND, FORBIDDEN, STORAGE_FAULT
 */
export const checkMaker = async (
  id: number,
  caller: number,
): Promise<NonNullable<ChangeContext['permission']>> => {
  const check = async ({ made_by }: StoredUser) => {
    if (made_by !== caller) throw new DomainError('FORBIDDEN');
  };
  const user = await findStoredUser(id);
  if (!user) throw new DomainError('USER_NOT_FOUND');
  await check(user);
  return { user, check };
};
