/**
 * How users confirm what they ask for of themselves: by their current password or, who has none, an ID token
 * (functions/README.md, Current password, Identities). Every line is for options, because the specification asks for
 * no confirmation: for sessions and verified addresses, or for the option that it names.
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

/** By what a user confirms a request, and where the request comes from. */
export interface Confirmation {
  readonly currentPassword?: string | undefined;
  readonly code?: string | undefined;
  readonly idToken?: string | undefined;
  readonly nonce?: string | undefined;
  readonly source: Source;
  /** The hash for which it was checked already; absent: it was not. */
  readonly matchedHash?: string;
}

/** Whether a user confirms by a password. */
export function confirmsByPassword({ password_hash }: StoredUser): boolean {
  return !hasIdentities(config) || !isUnmatchable(password_hash);
}

/**
 * Requires the current password of a user, or an ID token of a user who has none. A wrong one counts as a failed
 * login.
 * @returns what is given, for the same user as read again: it is checked, and a nonce used up, once for each hash
 * @throws {DomainError} CURRENT_PASSWORD_REQUIRED, CURRENT_PASSWORD_WRONG, ID_TOKEN_REQUIRED,
 *   IDENTITY_TOKEN_INVALID, IDENTITY_PROVIDER_FAULT, TOO_MANY_ATTEMPTS, STORAGE_FAULT
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
 * @returns whom it vouches for
 * @param user who must have the identity; absent: it may be anybody's
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

/** Requires what {@link requireConfirmed} does, and does not use up the nonce of an ID token. */
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
