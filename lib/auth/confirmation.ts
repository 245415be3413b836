/**
 * How users confirm what they ask for of themselves: by an open session and their current password or,
 * who has none, an ID token (functions/README.md, Current password, Identities).
 */
import { DomainError, missingField } from '../errors.ts';
import { verifyIdToken } from '../identities/id-token.ts';
import { useNonce } from '../identities/nonce.ts';
import { config, hasIdentities } from '../settings.ts';
import type { Bearer } from '../users/bearer.ts';
import { identityOf } from '../users/identities.ts';
import type { StoredUser } from '../users/items.ts';
import { isUnmatchable, matchesHash } from '../users/password.ts';
import { requireOpen } from '../users/sessions.ts';
import {
  type Counter,
  countAttempt,
  loginCounters,
  requireNoWait,
  sourceCounters,
} from './counters.ts';

/** The fields of a body by which a user confirms, and where the request comes from. */
export interface Confirmation {
  readonly currentPassword?: string | undefined;
  readonly code?: string | undefined;
  readonly idToken?: string | undefined;
  readonly nonce?: string | undefined;
  readonly sourceIp: string;
}

/**
 * Requires what a check finds. What is wrong counts as a failed login.
 * @param counters of the failure
 * @param use uses up what was found; returns undefined when another request has
 * @throws {DomainError} TOO_MANY_ATTEMPTS, the given error, and what the two functions throw
 */
export const requireRight = async <Found, Used>(
  counters: readonly Counter[],
  error: 'CURRENT_PASSWORD_WRONG' | 'CODE_WRONG' | 'IDENTITY_TOKEN_INVALID',
  check: () => Promise<Found | undefined>,
  use: (found: Found) => Promise<Used | undefined>,
): Promise<Used> => {
  const before = await requireNoWait(counters);
  const found = await check();
  const seen = found === undefined ? before : await requireNoWait(counters);
  const used = found === undefined ? undefined : await use(found);
  if (used !== undefined) return used;
  const { waitError } = await countAttempt(seen);
  throw waitError ?? new DomainError(error);
};

/**
 * Requires that an address is verified, where addresses are: whoever registers that of somebody else must
 * neither keep a way in nor shut the holder of the mailbox out.
 * @throws {DomainError} EMAIL_NOT_VERIFIED
 */
export const requireVerified = ({ email_verified }: StoredUser): void => {
  if (config.emailVerification !== 'off' && !email_verified) {
    throw new DomainError('EMAIL_NOT_VERIFIED');
  }
};

/** Whether a user confirms by a password. */
export const hasPassword = ({ password_hash }: StoredUser): boolean =>
  !hasIdentities(config) || !isUnmatchable(password_hash);

/** Requires a fresh ID token of an identity that is linked to a user, and uses its nonce up at last. */
const requireIdentity = async (
  user: StoredUser,
  confirmation: Confirmation,
  beforeUse: () => Promise<unknown>,
): Promise<void> => {
  const { idToken, nonce } = confirmation;
  if (!idToken || !nonce) throw missingField('ID_TOKEN_REQUIRED', idToken ? 'nonce' : 'idToken');
  const check = async () => {
    const vouched = await verifyIdToken({ idToken, nonce });
    return vouched && identityOf(user, vouched);
  };
  const use = async () => {
    await beforeUse();
    return (await useNonce(nonce)) || undefined;
  };
  await requireRight(sourceCounters(confirmation.sourceIp), 'IDENTITY_TOKEN_INVALID', check, use);
};

/**
 * Requires the current password of a user, or an ID token of a user who has none.
 * @param beforeUse what is required besides, once that was found right
 * @throws {DomainError} CURRENT_PASSWORD_REQUIRED, TOO_MANY_ATTEMPTS, CURRENT_PASSWORD_WRONG;
 *   ID_TOKEN_REQUIRED, IDENTITY_TOKEN_INVALID, IDENTITY_PROVIDER_FAULT; and what the function throws
 */
const requirePassword = async (
  user: StoredUser,
  confirmation: Confirmation,
  beforeUse: () => Promise<unknown> = async () => undefined,
): Promise<void> => {
  if (!hasPassword(user)) return requireIdentity(user, confirmation, beforeUse);
  const { currentPassword, sourceIp } = confirmation;
  if (!currentPassword) throw missingField('CURRENT_PASSWORD_REQUIRED', 'currentPassword');
  const counters = await loginCounters(user.email, sourceIp, user);
  const check = async () => (await matchesHash(currentPassword, user.password_hash)) || undefined;
  await requireRight(counters, 'CURRENT_PASSWORD_WRONG', check, async () => true);
  await beforeUse();
};

/**
 * Makes the check that users confirm what they ask for. It runs each time that the user is read, and does
 * not compare a password again that was right, nor use a nonce again.
 * @param caller whose session must be open; undefined: a link says who asks
 * @throws as {@link requirePassword} does
 */
export const passwordCheck = (caller: Bearer | undefined, confirmation: Confirmation) => {
  let rightHash: string | undefined;
  return async (user: StoredUser, beforeUse?: () => Promise<unknown>): Promise<void> => {
    if (caller) requireOpen(user, caller.session);
    if (user.password_hash === rightHash) return;
    await requirePassword(user, confirmation, beforeUse);
    rightHash = user.password_hash;
  };
};
