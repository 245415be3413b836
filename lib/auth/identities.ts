/** How users link and unlink identities (functions/README.md, Identities). */
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
import { endedSessions, requireOpen } from '../users/sessions.ts';
import { rewriteUser, writeUser } from '../users/write.ts';
import { type Confirmation, requireRight, requireVerified } from './confirmation.ts';
import { sourceCounters } from './counters.ts';
import { confirm } from './factor-changes.ts';

/** An identity as responses show it. */
export const shownIdentity = ({ id, issuer, email, created_at }: StoredIdentity) => ({
  id,
  issuer,
  email,
  created_at,
});

/** Records a change of the identities of a caller, and notifies the caller. */
const recording = async <T>(
  caller: Bearer,
  source: Source,
  change: (details: Record<string, unknown>) => Promise<T>,
): Promise<T> => {
  const { id } = caller;
  const details: Record<string, unknown> = { fields: ['identities'] };
  const entry = { ...source, action: 'UPDATE', user_id: id, resource_id: id, details } as const;
  const result = await audited(entry, () => change(details));
  await notifyOfPart(caller, 'identities', source);
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
export const linkIdentity = (
  caller: Bearer,
  given: TokenAndNonce,
  confirmation: Confirmation,
  source: Source,
): Promise<StoredIdentity> =>
  recording(caller, source, async (details) => {
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
    await rewriteUser(caller.id, attempt, confirmed);
    return identity;
  });

/**
 * Unlinks an identity of a caller, and ends all other sessions.
 * @throws {DomainError} TOKEN_INVALID, IDENTITY_NOT_FOUND, LAST_LOGIN, STORAGE_FAULT
 */
export const unlinkIdentity = (
  caller: Bearer,
  id: string | undefined,
  source: Source,
): Promise<unknown> =>
  recording(caller, source, (details) => {
    const attempt = async (user: StoredUser) => {
      requireOpen(user, caller.session);
      const { identities = [] } = user;
      const identity = identities.find((each) => each.id === id);
      if (!identity) throw new DomainError('IDENTITY_NOT_FOUND');
      details.unlinked = identity.issuer;
      const rest = identities.filter((each) => each !== identity);
      const isLast = rest.length === 0 && isUnmatchable(user.password_hash);
      if (isLast) throw new DomainError('LAST_LOGIN');
      const fields = { identities: rest.length > 0 ? rest : undefined };
      const ended = endedSessions(user, caller.session);
      return writeUser(user, { ...fields, ...ended }, { steps: unlinking(user, [identity]) });
    };
    return rewriteUser(caller.id, attempt, caller);
  });
