/**
 * How users confirm requests about their own account (functions/README.md, Current password, Identities). Every line is
 * for options, because the specification requires no confirmation.
 */
import { missingField } from '../ground/errors.ts';
import { config, hasIdentities } from '../ground/settings.ts';
import type { Source } from '../ground/source.ts';
import { useNonce } from '../keys/nonce.ts';
import { type TokenAndNonce, type Vouched, verifyIdToken } from '../options/identities/id-token.ts';
import { identityOf } from '../options/identities/identities.ts';
import { countingGuesses, countingReuse } from '../options/protection/counters.ts';
import type { StoredUser } from '../users/item.ts';
import { matchesHash } from '../users/password.ts';
import { isUnmatchable } from '../users/user.ts';

/** The proof by which a user confirms a request, and the origin of the request. */
export interface Confirmation {
  readonly currentPassword?: string | undefined;
  readonly code?: string | undefined;
  readonly idToken?: string | undefined;
  readonly nonce?: string | undefined;
  readonly source: Source;
  /** The password hash for which the proof was already checked; absent: it was not checked. */
  readonly matchedHash?: string;
}

export function confirmsByPassword({ password_hash }: StoredUser): boolean {
  return !hasIdentities(config) || !isUnmatchable(password_hash);
}

/**
 * Requires the current password of a user or, if the user has no password, an ID token. A wrong password or token
 * counts as a failed login.
 * @returns the confirmation to pass to this function when the same user is read again: for each hash, the proof is
 *   checked and a nonce is used up only once
 * @throws {DomainError} CURRENT_PASSWORD_REQUIRED, CURRENT_PASSWORD_WRONG, ID_TOKEN_REQUIRED, IDENTITY_TOKEN_INVALID,
 *   IDENTITY_PROVIDER_FAULT, TOO_MANY_ATTEMPTS, STORAGE_FAULT
 */
export async function requireConfirmed<C extends Confirmation>(
  user: StoredUser,
  given: C,
): Promise<C> {
  if (user.password_hash === given.matchedHash) return given;
  await checkConfirmation(user, given);
  await useNonceUp(user, given);
  return { ...given, matchedHash: user.password_hash };
}

/**
 * Requires an ID token for an identity. A wrong token counts as a failed login.
 * @param user the user who must have the identity; absent: any identity is accepted
 * @throws {DomainError} IDENTITY_TOKEN_INVALID, IDENTITY_PROVIDER_FAULT, TOO_MANY_ATTEMPTS
 */
export async function requireVouched(
  token: TokenAndNonce,
  source: Source,
  user?: StoredUser,
): Promise<Vouched> {
  const check = async () => {
    const vouched = await verifyIdToken(token);
    return vouched && (!user || identityOf(user, vouched)) ? vouched : undefined;
  };
  return countingGuesses(source, undefined, 'IDENTITY_TOKEN_INVALID', check); // protection
}

/** Requires the same as {@link requireConfirmed}, but does not use up the nonce of an ID token. */
export async function checkConfirmation(
  user: StoredUser,
  { currentPassword, idToken, nonce, source }: Confirmation,
): Promise<void> {
  if (confirmsByPassword(user)) {
    if (!currentPassword) throw missingField('CURRENT_PASSWORD_REQUIRED', 'currentPassword');
    const check = () => matchesHash(currentPassword, user.password_hash);
    await countingGuesses(source, user, 'CURRENT_PASSWORD_WRONG', check); // protection
  } else {
    if (!idToken || !nonce) throw missingField('ID_TOKEN_REQUIRED', idToken ? 'nonce' : 'idToken');
    await requireVouched({ idToken, nonce }, source, user); // identities
  }
}

/** Uses up the nonce of the ID token by which a user without a password confirms: identities. */
export async function useNonceUp(
  user: StoredUser,
  { nonce = '', source }: Confirmation,
): Promise<void> {
  if (confirmsByPassword(user)) return;
  await countingReuse(source, undefined, 'IDENTITY_TOKEN_INVALID', (used) => useNonce(nonce, used)); // protection
}
