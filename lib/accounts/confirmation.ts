/**
 * How users confirm what they ask for of themselves: by an open session, their current password or, who has
 * none, an ID token, and their code (functions/README.md, Current password, Identities, Second factor).
 */

import { DomainError, missingField } from '../ground/errors.ts';
import { config, hasIdentities } from '../ground/settings.ts';
import type { Source } from '../ground/source.ts';
import { useNonce } from '../keys/nonce.ts';
import { type TokenAndNonce, type Vouched, verifyIdToken } from '../options/identities/id-token.ts';
import { identityOf } from '../options/identities/identities.ts';
import { countedFailure, guarded, requireNoWait } from '../options/protection/counters.ts';
import { checkCode, useCode } from '../options/second-factor/factor.ts';
import { hasFactor } from '../options/second-factor/state.ts';
import type { Bearer } from '../options/sessions/bearer.ts';
import { requireOpen } from '../options/sessions/sessions.ts';
import { isUnverified } from '../options/verified-addresses/address.ts';
import type { StoredUser } from '../users/item.ts';
import { matchesHash } from '../users/password.ts';
import { isUnmatchable } from '../users/user.ts';
import { rewriteUser } from '../users/write.ts';

/** By what a user confirms a request, and where the request comes from. */
export interface Confirmation {
  readonly currentPassword?: string | undefined;
  readonly code?: string | undefined;
  readonly idToken?: string | undefined;
  readonly nonce?: string | undefined;
  readonly source: Source;
}

/** By what a caller confirms a request about itself. */
export interface OwnConfirmation extends Confirmation {
  readonly caller: Bearer;
}

/**
 * Changes a caller who confirms the change by all that the caller has, and uses the code up. A change that others
 * overtake reads the user again, and then requires an open session, and a password that others have set.
 * @throws {DomainError} USER_NOT_FOUND, TOKEN_INVALID, CODE_REQUIRED, CODE_WRONG, STORAGE_FAULT, what
 *   {@link confirmPassword} throws, and what the change throws
 */
export async function rewriteConfirmed<T>(
  given: OwnConfirmation,
  change: (user: StoredUser) => Promise<T>,
): Promise<T> {
  const confirmed = await confirm(given);
  const { session, password_hash } = given.caller;
  const changeConfirmed = async (user: StoredUser) => {
    requireOpen(user, session);
    await confirmPassword(user, given, password_hash);
    return change(user);
  };
  return rewriteUser(confirmed.id, changeConfirmed, confirmed);
}

/** Whether a user confirms by a password. */
export function hasPassword({ password_hash }: StoredUser): boolean {
  return !hasIdentities(config) || !isUnmatchable(password_hash);
}

/**
 * Requires the current password of a user, or an ID token of a user who has none. What is wrong counts as a
 * failed login.
 * @param confirmed the hash for which it was right already: it is checked, and used up, only once
 * @returns the hash for which it is right
 * @throws {DomainError} CURRENT_PASSWORD_REQUIRED, CURRENT_PASSWORD_WRONG, ID_TOKEN_REQUIRED,
 *   IDENTITY_TOKEN_INVALID, IDENTITY_PROVIDER_FAULT, TOO_MANY_ATTEMPTS, STORAGE_FAULT
 */
export async function confirmPassword(
  user: StoredUser,
  given: Confirmation,
  confirmed?: string,
): Promise<string> {
  if (user.password_hash !== confirmed) {
    await requirePasswordOrIdentity(user, given);
    await useNonceUp(user, given);
  }
  return user.password_hash;
}

/**
 * Requires that the address of a user is verified, where addresses are: whoever registers somebody else's
 * address must neither keep a way in nor shut the holder of the mailbox out.
 * @throws {DomainError} EMAIL_NOT_VERIFIED
 */
export function requireVerified(user: StoredUser): void {
  if (isUnverified(user)) throw new DomainError('EMAIL_NOT_VERIFIED');
}

/**
 * Whom an ID token vouches for. What is wrong counts as a failed login.
 * @param user who must have the identity; absent: it may be anybody's
 * @throws {DomainError} IDENTITY_TOKEN_INVALID, IDENTITY_PROVIDER_FAULT, TOO_MANY_ATTEMPTS
 */
export async function requireVouched(
  token: TokenAndNonce,
  source: Source,
  user?: StoredUser,
): Promise<Vouched> {
  return guarded(source, undefined, 'IDENTITY_TOKEN_INVALID', async () => {
    const vouched = await verifyIdToken(token);
    return vouched && (!user || identityOf(user, vouched)) ? vouched : undefined;
  });
}

/** Requires all that a caller confirms by. @returns the caller without the code */
async function confirm(given: OwnConfirmation): Promise<StoredUser> {
  const { caller } = given;
  if (hasFactor(caller) && !given.code) throw missingField('CODE_REQUIRED', 'code');
  requireOpen(caller, caller.session);
  await requirePasswordOrIdentity(caller, given);
  const user = await useFactor(caller, given);
  await useNonceUp(caller, given);
  return user;
}

function requirePasswordOrIdentity(user: StoredUser, given: Confirmation): Promise<void> {
  return hasPassword(user) ? requireRightPassword(user, given) : requireLinkedIdentity(user, given);
}

async function requireRightPassword(user: StoredUser, given: Confirmation): Promise<void> {
  const { currentPassword, source } = given;
  if (!currentPassword) throw missingField('CURRENT_PASSWORD_REQUIRED', 'currentPassword');
  await guarded(source, user, 'CURRENT_PASSWORD_WRONG', () =>
    matchesHash(currentPassword, user.password_hash),
  );
}

/** Requires a fresh ID token of an identity that is linked to a user. */
async function requireLinkedIdentity(user: StoredUser, given: Confirmation): Promise<void> {
  const { idToken, nonce, source } = given;
  if (!idToken || !nonce) throw missingField('ID_TOKEN_REQUIRED', idToken ? 'nonce' : 'idToken');
  await requireVouched({ idToken, nonce }, source, user);
}

/** Requires a right code of a user who has a second factor. @returns the user without the code */
async function useFactor(user: StoredUser, given: Confirmation): Promise<StoredUser> {
  const { code = '', source } = given;
  if (!hasFactor(user)) return user;
  const proof = await guarded(source, user, 'CODE_WRONG', () => checkCode(user, code));
  const used = await useCode(user, proof);
  if (!used) throw await countedFailure(await requireNoWait(source, user), 'CODE_WRONG');
  return used;
}

/** Uses up the nonce of the ID token by which a user without a password confirms. */
async function useNonceUp(user: StoredUser, given: Confirmation): Promise<void> {
  const { nonce = '', source } = given;
  if (hasPassword(user) || (await useNonce(nonce))) return;
  throw await countedFailure(await requireNoWait(source), 'IDENTITY_TOKEN_INVALID');
}
