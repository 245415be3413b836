/** How identities are linked and unlinked (functions/README.md, Identities). */
import { recordingFaults } from '../audit/record.ts';
import { DomainError } from '../ground/errors.ts';
import type { Source } from '../ground/source.ts';
import { nonceUsed } from '../keys/nonce.ts';
import type { TokenAndNonce } from '../options/identities/id-token.ts';
import {
  identityLinked,
  identityUnlinked,
  makeIdentity,
  mostIdentities,
  requireIdentity,
} from '../options/identities/identities.ts';
import { sessionsEnded } from '../options/sessions/sessions.ts';
import { requireVerifiedAddress } from '../options/verified-addresses/address.ts';
import type { StoredIdentity, StoredUser } from '../users/item.ts';
import { makerForgotten, rewriteUser, writeUser } from '../users/write.ts';
import { requireVouched } from './confirmation.ts';
import { ownDeed, recordingAndNotifying, recordingOwn } from './recording.ts';
import { type OwnConfirmation, rewriteConfirmed } from './rewrite-confirmed.ts';

/**
 * Links an identity to a caller. Ends all other sessions, and the permission of the maker (`made_by`).
 * @throws {DomainError} IDENTITY_TOKEN_INVALID, IDENTITY_PROVIDER_FAULT, EMAIL_NOT_VERIFIED, TOO_MANY_IDENTITIES,
 *   IDENTITY_LINKED, STORAGE_FAULT, and what the confirmation throws
 */
export async function linkIdentity(
  token: TokenAndNonce,
  given: OwnConfirmation,
): Promise<StoredIdentity> {
  const { caller, source } = given;
  requireLinkable(caller);
  const vouched = await recordingFaults(ownDeed(given, detailsOf()), () =>
    requireVouched(token, source),
  );
  const made = makeIdentity(vouched);
  const link = (user: StoredUser) => {
    requireLinkable(user);
    return writeUser(
      user,
      nonceUsed(token.nonce, 'IDENTITY_TOKEN_INVALID'),
      identityLinked(user, made),
      sessionsEnded(user, caller.session), // sessions
      makerForgotten, // users made by a caller
    );
  };
  const details = detailsOf({ linked: vouched.issuer });
  await recordingOwn(given, details, ['identities'], () => rewriteConfirmed(given, link));
  return made;
}

/**
 * Unlinks an identity of a caller, and ends all other sessions.
 * @throws {DomainError} IDENTITY_NOT_FOUND, LAST_LOGIN, STORAGE_FAULT, and what the confirmation throws
 */
export async function unlinkOwnIdentity(
  identityId: string | undefined,
  given: OwnConfirmation,
): Promise<void> {
  const { caller } = given;
  const details = detailsOf({ unlinked: requireIdentity(caller, identityId).issuer });
  const unlink = (user: StoredUser) =>
    writeUser(
      user,
      identityUnlinked(user, identityId),
      sessionsEnded(user, caller.session), // sessions
    );
  await recordingOwn(given, details, ['identities'], () => rewriteConfirmed(given, unlink));
}

/**
 * Unlinks an identity of a user for an admin, and ends all sessions of the user.
 * @throws {DomainError} USER_NOT_FOUND, IDENTITY_NOT_FOUND, LAST_LOGIN, STORAGE_FAULT
 */
export async function unlinkIdentity(
  { admin, id, source }: { admin: number; id: number; source: Source },
  identityId: string | undefined,
): Promise<void> {
  const deed = { source, action: 'UPDATE', by: admin, on: id, details: detailsOf() } as const;
  const unlink = async (user: StoredUser) => {
    const details = detailsOf({ unlinked: requireIdentity(user, identityId).issuer });
    await writeUser(
      user,
      identityUnlinked(user, identityId),
      sessionsEnded(user), // sessions
    );
    return { user, details, parts: ['identities'] as const, byAdmin: true };
  };
  await recordingAndNotifying(deed, () => rewriteUser(id, unlink));
}

function detailsOf(said?: object) {
  return { fields: ['identities'], ...said };
}

function requireLinkable(user: StoredUser): void {
  requireVerifiedAddress(user); // verified addresses
  if ((user.identities?.length ?? 0) >= mostIdentities) {
    throw new DomainError('TOO_MANY_IDENTITIES');
  }
}
