/**
 * How users confirm what they ask for of themselves: by their current password or, who has none, an ID token
 * (functions/README.md, Current password, Identities).
 */
import { missingField } from '../ground/errors.ts';
import { config, hasIdentities } from '../ground/settings.ts';
import type { Source } from '../ground/source.ts';
import { useNonce } from '../keys/nonce.ts';
import { type TokenAndNonce, type Vouched, verifyIdToken } from '../options/identities/id-token.ts';
import { identityOf } from '../options/identities/identities.ts';
import { guarded, guardedUse } from '../options/protection/counters.ts';
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
}

/** Whether a user confirms by a password. */
export function hasPassword({ password_hash }: StoredUser): boolean {
  return !hasIdentities(config) || !isUnmatchable(password_hash);
}

/**
 * Requires the current password of a user, or an ID token of a user who has none. A wrong one counts as a failed
 * login.
 * @param confirmed the hash that the password has matched already: it is checked, and a nonce used up, only once
 * @returns the hash that the password matches
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
 * Reads whom an ID token vouches for. A wrong token counts as a failed login.
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

/** Requires the current password of a user, or an ID token of a user who has none, which this does not use up. */
export async function requirePasswordOrIdentity(
  user: StoredUser,
  { currentPassword, idToken, nonce, source }: Confirmation,
): Promise<void> {
  if (!hasPassword(user)) {
    if (!idToken || !nonce) throw missingField('ID_TOKEN_REQUIRED', idToken ? 'nonce' : 'idToken');
    await requireVouched({ idToken, nonce }, source, user); // identities
    return;
  }
  if (!currentPassword) throw missingField('CURRENT_PASSWORD_REQUIRED', 'currentPassword');
  await guarded(source, user, 'CURRENT_PASSWORD_WRONG', () =>
    matchesHash(currentPassword, user.password_hash),
  );
}

/** Uses up the nonce of the ID token by which a user without a password confirms. */
export async function useNonceUp(
  user: StoredUser,
  { nonce = '', source }: Confirmation,
): Promise<void> {
  if (hasPassword(user)) return;
  await guardedUse(source, undefined, 'IDENTITY_TOKEN_INVALID', (used) => useNonce(nonce, used));
}
