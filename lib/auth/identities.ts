/** How users link identities, and how users and admins unlink them (functions/README.md, Identities). */
import { audited } from '../audit/record.ts';
import { DomainError } from '../errors.ts';
import { type TokenAndNonce, verifyIdToken } from '../identities/id-token.ts';
import { usingNonce } from '../identities/nonce.ts';
import { notifyOfPart } from '../mail/hand-over.ts';
import type { Source } from '../source.ts';
import type { Bearer } from '../users/bearer.ts';
import { linking, makeIdentity, mostIdentities, unlinking } from '../users/identities.ts';
import type { StoredIdentity, StoredUser } from '../users/items.ts';
import { isUnmatchable } from '../users/password.ts';
import { endedSessions, type Session } from '../users/sessions.ts';
import { rewriteUser, writeUser } from '../users/write.ts';
import { type Confirmation, requireRight, requireVerified } from './confirmation.ts';
import { sourceCounters } from './counters.ts';
import { confirm } from './factor-changes.ts';

/** Who asks for a change, the id of the user whom it is for, and where the request comes from. */
interface IdentityRequest {
  readonly caller: Bearer;
  readonly id: number;
  readonly source: Source;
}

/** Records a change of the identities of a user, and notifies that user. */
const recording = async <T extends { readonly user: StoredUser }>(
  { caller, id, source }: IdentityRequest,
  change: (details: Record<string, unknown>) => Promise<T>,
): Promise<T> => {
  const details: Record<string, unknown> = { fields: ['identities'] };
  const by = { user_id: caller.id, resource_id: id };
  const entry = { ...source, action: 'UPDATE', ...by, details } as const;
  const result = await audited(entry, () => change(details));
  await notifyOfPart(result.user, 'identities', source);
  return result;
};

const requireLinkable = (user: StoredUser): void => {
  requireVerified(user);
  if ((user.identities?.length ?? 0) >= mostIdentities)
    throw new DomainError('TOO_MANY_IDENTITIES');
};

/**
 * Links an identity to a caller, and ends all other sessions and the permission of whoever made the caller.
 * @param confirmation by which the caller confirms it
 * @throws {DomainError} IDENTITY_TOKEN_INVALID, IDENTITY_PROVIDER_FAULT, EMAIL_NOT_VERIFIED,
 *   TOO_MANY_IDENTITIES, IDENTITY_LINKED, STORAGE_FAULT, and what the confirmation throws
 */
export const linkIdentity = async (
  caller: Bearer,
  given: TokenAndNonce,
  confirmation: Confirmation,
  source: Source,
): Promise<StoredIdentity> => {
  const { identity } = await recording({ caller, id: caller.id, source }, async (details) => {
    requireLinkable(caller);
    const vouched = await requireRight(
      sourceCounters(source.ip_address),
      'IDENTITY_TOKEN_INVALID',
      () => verifyIdToken(given),
      async (found) => found,
    );
    details.linked = vouched.issuer;
    const identity = makeIdentity(vouched);
    const { user: confirmed, check } = await confirm(caller, confirmation);
    const attempt = async (user: StoredUser) => {
      await check(user);
      requireLinkable(user);
      const identities = [...(user.identities ?? []), identity];
      const steps = [usingNonce(given.nonce), ...linking(user.id, [identity])];
      const ended = { ...endedSessions(user, caller.session), made_by: undefined };
      return writeUser(user, { identities, ...ended }, { steps });
    };
    return { user: await rewriteUser(caller.id, attempt, confirmed), identity };
  });
  return identity;
};

const requireIdentity = (
  { identities = [] }: StoredUser,
  identityId: string | undefined,
): StoredIdentity => {
  const identity = identities.find(({ id }) => id === identityId);
  if (!identity) throw new DomainError('IDENTITY_NOT_FOUND');
  return identity;
};

/** Unlinks an identity of a user as read, and ends all sessions except one that goes on. */
const unlink = (user: StoredUser, identity: StoredIdentity, kept?: Session) => {
  const rest = (user.identities ?? []).filter(({ id }) => id !== identity.id);
  if (rest.length === 0 && isUnmatchable(user.password_hash)) throw new DomainError('LAST_LOGIN');
  const identities = rest.length > 0 ? rest : undefined;
  const fields = { identities, ...endedSessions(user, kept) };
  return writeUser(user, fields, { steps: unlinking(user, [identity]) });
};

/**
 * Unlinks an identity of a caller, and ends all other sessions.
 * @param confirmation by which the caller confirms it
 * @throws {DomainError} IDENTITY_NOT_FOUND, LAST_LOGIN, STORAGE_FAULT, and what the confirmation throws
 */
export const unlinkOwnIdentity = (
  caller: Bearer,
  identityId: string | undefined,
  confirmation: Confirmation,
  source: Source,
): Promise<unknown> =>
  recording({ caller, id: caller.id, source }, async (details) => {
    details.unlinked = requireIdentity(caller, identityId).issuer;
    const { user: confirmed, check } = await confirm(caller, confirmation);
    const attempt = async (user: StoredUser) => {
      await check(user);
      return unlink(user, requireIdentity(user, identityId), caller.session);
    };
    return { user: await rewriteUser(caller.id, attempt, confirmed) };
  });

/**
 * Unlinks an identity of a user for an admin, and ends all sessions of the user.
 * @throws {DomainError} USER_NOT_FOUND, IDENTITY_NOT_FOUND, LAST_LOGIN, STORAGE_FAULT
 */
export const unlinkIdentity = (
  request: IdentityRequest,
  identityId: string | undefined,
): Promise<unknown> =>
  recording(request, async (details) => {
    const attempt = async (user: StoredUser) => {
      const identity = requireIdentity(user, identityId);
      details.unlinked = identity.issuer;
      return unlink(user, identity);
    };
    return { user: await rewriteUser(request.id, attempt) };
  });
