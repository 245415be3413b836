/** How PUT /api/users/{id} changes a user: read, decide, write (functions/README.md, Callers). */
import { record, recordingFaults } from '../audit/record.ts';
import type { Step } from '../dynamodb/client.ts';
import { DomainError } from '../ground/errors.ts';
import { logAdminMade } from '../ground/log.ts';
import type { Source } from '../ground/source.ts';
import type { Claims } from '../keys/token.ts';
import { hasUnusedInvitation, isInvited, notInvited } from '../options/invitations/invitation.ts';
import {
  changedParts,
  pendingMessage,
  tryToMail,
  tryToNotify,
} from '../options/mails/hand-over.ts';
import type { Bearer } from '../options/sessions/bearer.ts';
import { requireOpen, withoutSessions } from '../options/sessions/sessions.ts';
import { isWaiting, verifiedAs } from '../options/verified-addresses/address.ts';
import type { UserChanges } from '../users/fields.ts';
import type { StoredUser } from '../users/item.ts';
import { hashPassword } from '../users/password.ts';
import { changeDetails } from '../users/user.ts';
import { type Fields, merged, requireAdmin, rewriteUser, writeUser } from '../users/write.ts';
import { type Confirmation, confirmPassword } from './confirmation.ts';
import { newAddress } from './new-address.ts';
import { requireAllowed, type Standing } from './policy.ts';
import { withoutOtherWays } from './ways-in.ts';

/** A change, and who asks for it. */
export interface ChangeRequest {
  readonly id: number;
  readonly changes: UserChanges;
  /** The caller, by the token with the standing and, where there are sessions, as stored. */
  readonly claims: Pick<Claims, 'id' | 'role'> & Standing;
  readonly bearer: Bearer | undefined;
  readonly confirmation: Confirmation;
  readonly source: Source;
}

/**
 * Changes a user, records it and notifies the user.
 * @returns the user as changed
 * @throws {DomainError} USER_NOT_FOUND, FORBIDDEN, SECOND_FACTOR_REQUIRED, TOKEN_INVALID,
 *   CURRENT_PASSWORD_REQUIRED, CURRENT_PASSWORD_WRONG, TOO_MANY_ATTEMPTS, INVITATION_NOT_ACCEPTED,
 *   FIELD_INVALID, EMAIL_REGISTERED, HASHING_FAULT, STORAGE_FAULT, and for users without a password the
 *   errors of identities
 */
export async function changeUser(request: ChangeRequest): Promise<StoredUser> {
  const { id, changes, claims, bearer, source } = request;
  const { email, ...others } = changes;
  const { password, ...plain } = others;
  let confirmedHash: string | undefined;
  let password_hash: string | undefined;
  const rewrite = async (before: StoredUser) => {
    if (bearer?.id === id) requireOpen(before, bearer.session); // sessions
    requirePermission(before, request);
    const steps = grantorSteps(before, request);
    confirmedHash = await requireConfirmation(before, request, confirmedHash); // sessions
    if (password !== undefined) password_hash ??= await hashPassword(password);
    const address = await newAddress(before, email, claims); // verified addresses
    const otherWays = withoutOtherWaysFor(before, request); // identities
    const change = merged(
      { fields: plain, steps },
      address,
      { fields: password_hash ? { password_hash, ...notInvited } : {} },
      { fields: vouchedFor(before, request) }, // invitations
      otherWays,
      { fields: withoutMaker(before, request, address.fields) }, // users made by a caller
      { fields: withoutSessionsFor(before, request, address.fields) }, // sessions
    );
    const isUnchanged = Object.keys(change.fields).length === 0;
    const after = isUnchanged ? before : await writeUser(before, change);
    return { before, after, ways: otherWays.ways, awaitsLink: isWaiting(address.fields) };
  };
  const entry = { ...source, action: 'UPDATE', user_id: claims.id, resource_id: id } as const;
  const rewriting = rewriteUser(id, rewrite, bearer?.id === id ? bearer : undefined);
  const { before, after, ways, awaitsLink } = await recordingFaults(entry, rewriting);

  // An address that waits for its link is only requested.
  const applied = awaitsLink ? others : changes;
  const { fields, ...values } = changeDetails(before, applied);
  const requested = awaitsLink ? { requested: ['email'] } : {};
  await record({ ...entry, details: { fields: [...fields, ...ways], ...values, ...requested } });
  if (applied.role === 'admin' && before.role !== 'admin') {
    logAdminMade(id, { by: claims.id, requestId: source.request_id });
  }
  const byAdmin = claims.id !== id && claims.role === 'admin';
  // Nobody has an invited user's account yet, and its address may belong to a stranger.
  const told = isInvited(before) ? [] : [...changedParts(before, applied), ...ways]; // invitations
  await tryToNotify(before, told, source, { byAdmin }); // mails
  if (awaitsLink) await tryToMail(pendingMessage(after, source, bearer?.session.id)); // verified addresses
  return after;
}

/**
 * Asks the policy again, now that it is known who made the user. What the body asks for was checked before
 * (lib/http/endpoint.ts).
 */
function requirePermission(user: StoredUser, { claims }: ChangeRequest): void {
  const isSelf = user.id === claims.id;
  requireAllowed('changeUser', { ...claims, isSelf, mayBeMaker: user.made_by === claims.id });
}

/**
 * Where there are sessions, whoever changes their own password or address confirms it.
 * @param confirmed the hash for which the password was right already
 * @returns the hash for which it is right
 */
async function requireConfirmation(
  user: StoredUser,
  { changes, bearer, confirmation }: ChangeRequest,
  confirmed: string | undefined,
): Promise<string | undefined> {
  const { password, email = user.email } = changes;
  const setsCredentials = password !== undefined || email !== user.email;
  if (bearer?.id !== user.id || !setsCredentials) return confirmed;
  return confirmPassword(user, confirmation, confirmed);
}

/** The steps by which whoever makes a user an admin or auditor must be an admin at the instant of the write. */
function grantorSteps(user: StoredUser, { changes, claims }: ChangeRequest): readonly Step[] {
  if (!promotes(changes)) return [];
  if (hasUnusedInvitation(user)) throw new DomainError('INVITATION_NOT_ACCEPTED'); // invitations
  if (user.id !== claims.id) return [requireAdmin(claims.id)];
  // The write requires that the user is as it was read.
  if (user.role !== 'admin') throw new DomainError('FORBIDDEN');
  return [];
}

/** Whether a change makes a user an admin or an auditor. */
function promotes({ role, auditor }: UserChanges): boolean {
  return role === 'admin' || auditor === true;
}

/** An admin who sets the first password of a user who is invited vouches for the address, as whoever creates a user does. */
function vouchedFor(user: StoredUser, { changes, claims }: ChangeRequest): Fields {
  const isVouched = changes.password !== undefined && claims.role === 'admin' && isInvited(user);
  return isVouched ? verifiedAs(true) : {};
}

/** A password that somebody else sets is the only way in. */
function withoutOtherWaysFor(user: StoredUser, { changes, claims }: ChangeRequest) {
  const isSetByOther = changes.password !== undefined && user.id !== claims.id;
  return isSetByOther ? withoutOtherWays(user) : merged();
}

/**
 * Whoever made a user may no longer change that user when the user becomes an admin or an auditor, and when
 * anybody else sets the password, even the same one, or the address.
 */
function withoutMaker(
  user: StoredUser,
  { changes, claims }: ChangeRequest,
  { email }: Fields,
): Fields {
  const setsCredentials = changes.password !== undefined || email !== undefined;
  const isOfOther = setsCredentials && user.made_by !== claims.id;
  return promotes(changes) || isOfOther ? { made_by: undefined } : {};
}

/**
 * A new password, even the same one, a demotion and another address of one's own end the earlier sessions;
 * the session of the request goes on, unless the role changes.
 */
function withoutSessionsFor(user: StoredUser, request: ChangeRequest, { email }: Fields): Fields {
  const { changes, claims, bearer } = request;
  const { role = user.role, password } = changes;
  const isOwn = user.id === claims.id;
  const isDemoted = user.role === 'admin' && role === 'user';
  if (password === undefined && !(isOwn && email) && !isDemoted) return {};
  return withoutSessions(user, isOwn && role === user.role ? bearer?.session : undefined);
}
