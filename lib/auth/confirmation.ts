/**
 * How users confirm what they ask for of themselves: by an open session and their current password
 * (functions/README.md, Current password).
 */
import { DomainError, missingField } from '../errors.ts';
import type { Bearer } from '../users/bearer.ts';
import type { StoredUser } from '../users/items.ts';
import { verifyPassword } from '../users/password.ts';
import { requireOpen } from '../users/sessions.ts';
import { countAttempt, loginCounters, requireNoWait } from './counters.ts';

/** The fields of a body by which a user confirms, and where the request comes from. */
export interface Confirmation {
  readonly currentPassword?: string | undefined;
  readonly code?: string | undefined;
  readonly sourceIp: string;
}

/**
 * Requires what a check finds. What is wrong counts as a failed login of the user.
 * @param use uses up what was found; returns undefined when another request has
 * @throws {DomainError} TOO_MANY_ATTEMPTS, the given error, and what the two functions throw
 */
export const requireRight = async <Found, Used>(
  user: StoredUser,
  sourceIp: string,
  error: 'CURRENT_PASSWORD_WRONG' | 'CODE_WRONG',
  check: () => Promise<Found | undefined>,
  use: (found: Found) => Promise<Used | undefined>,
): Promise<Used> => {
  const counters = await loginCounters(user.email, sourceIp, user);
  const before = await requireNoWait(counters);
  const found = await check();
  const seen = found === undefined ? before : await requireNoWait(counters);
  const used = found === undefined ? undefined : await use(found);
  if (used !== undefined) return used;
  const { refusal } = await countAttempt(seen);
  throw refusal ?? new DomainError(error);
};

/**
 * Requires the current password of a user.
 * @throws {DomainError} CURRENT_PASSWORD_REQUIRED, TOO_MANY_ATTEMPTS, CURRENT_PASSWORD_WRONG
 */
export const requirePassword = async (
  user: StoredUser,
  { currentPassword, sourceIp }: Confirmation,
): Promise<void> => {
  if (!currentPassword) throw missingField('CURRENT_PASSWORD_REQUIRED', 'currentPassword');
  const check = async () =>
    (await verifyPassword(currentPassword, user.password_hash)) || undefined;
  await requireRight(user, sourceIp, 'CURRENT_PASSWORD_WRONG', check, async () => true);
};

/**
 * The check of what users ask for of themselves with their current password, for each time that the
 * user is read: a password that was found right is not checked again.
 */
export const passwordCheck = (caller: Bearer, confirmation: Confirmation) => {
  let verifiedHash: string | undefined;
  return async (user: StoredUser): Promise<void> => {
    requireOpen(user, caller.session);
    if (user.password_hash === verifiedHash) return;
    await requirePassword(user, confirmation);
    verifiedHash = user.password_hash;
  };
};
