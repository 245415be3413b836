/** How users link identities, and how users and admins unlink them (functions/README.md, Identities). */
import { record, recordingFaults } from '../audit/record.ts';
import { DomainError } from '../ground/errors.ts';
import type { Source } from '../ground/source.ts';
import { usingNonce } from '../keys/nonce.ts';
import type { TokenAndNonce } from '../options/identities/id-token.ts';
import {
  linking,
  makeIdentity,
  mostIdentities,
  unlinking,
} from '../options/identities/identities.ts';
import { tryToNotify } from '../options/mails/hand-over.ts';
import { type Session, withoutSessions } from '../options/sessions/sessions.ts';
import type { StoredIdentity, StoredUser } from '../users/item.ts';
import { isUnmatchable } from '../users/user.ts';
import { type Change, rewriteUser, writeUser } from '../users/write.ts';
import {
  type OwnConfirmation,
  requireVerified,
  requireVouched,
  rewriteConfirmed,
} from './confirmation.ts';

/**
 * Links an identity to a caller, and ends all other sessions and the permission of whoever made the caller.
 * @param given by which the caller confirms it
 * @throws {DomainError} IDENTITY_TOKEN_INVALID, IDENTITY_PROVIDER_FAULT, EMAIL_NOT_VERIFIED,
 *   TOO_MANY_IDENTITIES, IDENTITY_LINKED, STORAGE_FAULT, and what the confirmation throws
 */
export async function linkIdentity(
  token: TokenAndNonce,
  given: OwnConfirmation,
  source: Source,
): Promise<StoredIdentity> {
  const { caller } = given;
  requireLinkable(caller);
  const entry = entryOf(caller.id, caller.id, source);
  const vouched = await recordingFaults(entry, requireVouched(token, source.ip_address));
  const made = makeIdentity(vouched);
  const linked = entryOf(caller.id, caller.id, source, { linked: vouched.issuer });
  const rewriting = rewriteConfirmed(given, async (user) => {
    requireLinkable(user);
    const identities = [...(user.identities ?? []), made];
    const ended = { ...withoutSessions(user, caller.session), made_by: undefined };
    const steps = [usingNonce(token.nonce, 'IDENTITY_TOKEN_INVALID'), ...linking(user, [made])];
    await writeUser(user, { fields: { identities, ...ended }, steps });
  });
  await recordingFaults(linked, rewriting);
  await record(linked);
  await tryToNotify(caller, ['identities'], source);
  return made;
}

/**
 * Unlinks an identity of a caller, and ends all other sessions.
 * @param given by which the caller confirms it
 * @throws {DomainError} IDENTITY_NOT_FOUND, LAST_LOGIN, STORAGE_FAULT, and what the confirmation throws
 */
export async function unlinkOwnIdentity(
  identityId: string | undefined,
  given: OwnConfirmation,
  source: Source,
): Promise<void> {
  const { caller } = given;
  const { issuer } = findIdentity(caller, identityId);
  const entry = entryOf(caller.id, caller.id, source, { unlinked: issuer });
  const rewriting = rewriteConfirmed(given, (user) =>
    writeUser(user, unlinked(user, identityId, caller.session)),
  );
  await recordingFaults(entry, rewriting);
  await record(entry);
  await tryToNotify(caller, ['identities'], source);
}

/**
 * Unlinks an identity of a user for an admin, and ends all sessions of the user.
 * @param admin the id of who asks
 * @throws {DomainError} USER_NOT_FOUND, IDENTITY_NOT_FOUND, LAST_LOGIN, STORAGE_FAULT
 */
export async function unlinkIdentity(
  { admin, id, source }: { admin: number; id: number; source: Source },
  identityId: string | undefined,
): Promise<void> {
  const rewriting = rewriteUser(id, async (user) => {
    const { issuer } = findIdentity(user, identityId);
    return { issuer, user: await writeUser(user, unlinked(user, identityId)) };
  });
  const { issuer, user } = await recordingFaults(entryOf(admin, id, source), rewriting);
  await record(entryOf(admin, id, source, { unlinked: issuer }));
  await tryToNotify(user, ['identities'], source, { byAdmin: true });
}

function entryOf(user_id: number, resource_id: number, source: Source, said?: object) {
  const details = { fields: ['identities'], ...said };
  return { ...source, action: 'UPDATE', user_id, resource_id, details } as const;
}

function requireLinkable(user: StoredUser): void {
  requireVerified(user);
  if ((user.identities?.length ?? 0) >= mostIdentities) {
    throw new DomainError('TOO_MANY_IDENTITIES');
  }
}

function findIdentity({ identities = [] }: StoredUser, identityId: string | undefined) {
  const identity = identities.find(({ id }) => id === identityId);
  if (!identity) throw new DomainError('IDENTITY_NOT_FOUND');
  return identity;
}

/** The change that unlinks an identity, which is not the last way in. @param kept the session that goes on */
function unlinked(user: StoredUser, identityId: string | undefined, kept?: Session): Change {
  const identity = findIdentity(user, identityId);
  const rest = user.identities?.filter((each) => each !== identity) ?? [];
  if (rest.length === 0 && isUnmatchable(user.password_hash)) throw new DomainError('LAST_LOGIN');
  const identities = rest.length > 0 ? rest : undefined;
  return {
    fields: { identities, ...withoutSessions(user, kept) },
    steps: unlinking(user, [identity]),
  };
}
