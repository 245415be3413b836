/** How PUT /api/users/{id} changes a user: read, decide, write (functions/README.md, Callers). */
import { DomainError } from '../ground/errors.ts';
import { logAdminMade } from '../ground/log.ts';
import type { Claims } from '../keys/token.ts';
import {
  hasUnusedInvitation,
  invitationAccepted,
  isInvited,
} from '../options/invitations/invitation.ts';
import { changedParts, pendingMessage, tryToMail } from '../options/mails/hand-over.ts';
import type { Bearer } from '../options/sessions/bearer.ts';
import { requireOpen, sessionsEnded } from '../options/sessions/sessions.ts';
import { isWaiting, verifiedAs } from '../options/verified-addresses/address.ts';
import type { UserChanges } from '../users/fields.ts';
import { type Change, merged, type StoredUser, type Way } from '../users/item.ts';
import { hashPassword } from '../users/password.ts';
import { readUser } from '../users/store.ts';
import { changeDetails } from '../users/user.ts';
import { byStoredAdmin, makerForgotten, rewriteUser, writeUser } from '../users/write.ts';
import { type Confirmation, confirmPassword } from './confirmation.ts';
import { newAddress } from './new-address.ts';
import { requireAllowed, type Standing } from './policy.ts';
import { recordedAndTold } from './recorded.ts';
import { otherWaysRemoved } from './ways-in.ts';

/** A change, who asks for it, and by what that user confirms it. */
export interface ChangeRequest extends Confirmation {
  readonly id: number;
  readonly changes: UserChanges;
  /** The caller, by the token with the standing and, where there are sessions, as stored. */
  readonly claims: Pick<Claims, 'id' | 'role'> & Standing;
  readonly bearer: Bearer | undefined;
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
  const change = { source, action: 'UPDATE', by: claims.id, on: id } as const;
  const { before, after, applied, awaitsLink } = await recordedAndTold(change, async () => {
    const known = bearer?.id === id ? bearer : await readUser(id);
    requireChangeable(known, request);
    const confirmed = await requireConfirmation(known, request); // sessions
    const { password } = changes;
    const password_hash = password === undefined ? undefined : await hashPassword(password);
    const write = async (user: StoredUser) => {
      requireChangeable(user, request);
      await requireConfirmation(user, request, confirmed); // sessions
      return writeChange(user, request, password_hash);
    };
    return reportOf(await rewriteUser(id, write, known), request);
  });
  if (applied.role === 'admin' && before.role !== 'admin') {
    logAdminMade(id, { by: claims.id, requestId: source.request_id });
  }
  if (awaitsLink) await tryToMail(pendingMessage(after, source, bearer?.session.id)); // verified addresses
  return after;
}

/** A change as it was written. */
interface Written {
  readonly before: StoredUser;
  readonly after: StoredUser;
  /** The ways in that were removed. */
  readonly ways: readonly Way[];
  /** Whether the address is only requested, because it waits for its link. */
  readonly awaitsLink: boolean;
}

async function writeChange(
  before: StoredUser,
  request: ChangeRequest,
  password_hash: string | undefined,
): Promise<Written> {
  const { email, password: _, ...plain } = request.changes;
  const address = merged(await newAddress(before, email, request.claims)); // verified addresses
  const isMoved = address.fields.email !== undefined;
  const change = merged(
    { fields: plain },
    grantedByAdmin(before, request),
    address,
    password_hash ? { fields: { password_hash } } : {},
    password_hash ? invitationAccepted : {}, // invitations
    addressVouchedFor(before, request), // invitations
    otherWaysRemovedFrom(before, request), // identities, passkeys
    makerForgottenOf(before, request, isMoved), // users made by a caller
    sessionsEndedOf(before, request, isMoved), // sessions
  );
  const isUnchanged = Object.keys(change.fields).length === 0;
  const after = isUnchanged ? before : await writeUser(before, change);
  return { before, after, ways: change.ways, awaitsLink: isWaiting(address.fields) };
}

/** What the entry and the notice say of a change. */
function reportOf(written: Written, { id, changes, claims }: ChangeRequest) {
  const { before, ways, awaitsLink } = written;
  const { email: _, ...others } = changes;
  const applied: UserChanges = awaitsLink ? others : changes;
  const { fields, ...values } = changeDetails(before, applied);
  const requested = awaitsLink ? { requested: ['email'] } : {};
  return {
    ...written,
    applied,
    details: { fields: [...fields, ...ways], ...values, ...requested },
    user: before,
    // Nobody has an invited user's account yet, and its address may belong to a stranger.
    changed: isInvited(before) ? [] : [...changedParts(before, applied), ...ways], // invitations
    byAdmin: claims.id !== id && claims.role === 'admin',
  };
}

/** Requires that the user may be changed so: of the user as read, and again of one whom others have changed since. */
function requireChangeable(user: StoredUser, request: ChangeRequest): void {
  const { id, bearer } = request;
  if (bearer?.id === id) requireOpen(user, bearer.session); // sessions
  requirePermission(user, request);
  requirePromotable(user, request);
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
  request: ChangeRequest,
  confirmed?: string,
): Promise<string | undefined> {
  const { password, email = user.email } = request.changes;
  const setsCredentials = password !== undefined || email !== user.email;
  if (request.bearer?.id !== user.id || !setsCredentials) return confirmed;
  return confirmPassword(user, request, confirmed);
}

/** Requires that a user may become an admin or auditor, where the change makes the user one. */
function requirePromotable(user: StoredUser, { changes, claims }: ChangeRequest): void {
  if (!promotes(changes)) return;
  if (hasUnusedInvitation(user)) throw new DomainError('INVITATION_NOT_ACCEPTED'); // invitations
  // The write requires that the user is as it was read.
  if (user.id === claims.id && user.role !== 'admin') throw new DomainError('FORBIDDEN');
}

/** Whoever makes another user an admin or auditor must be an admin at the instant of the write. */
function grantedByAdmin(user: StoredUser, { changes, claims }: ChangeRequest): Change {
  return promotes(changes) && user.id !== claims.id ? byStoredAdmin(claims.id) : {};
}

/** Whether a change makes a user an admin or an auditor. */
function promotes({ role, auditor }: UserChanges): boolean {
  return role === 'admin' || auditor === true;
}

/** An admin who sets the first password of a user who is invited vouches for the address, as whoever creates a user does. */
function addressVouchedFor(user: StoredUser, { changes, claims }: ChangeRequest): Change {
  const isVouched = changes.password !== undefined && claims.role === 'admin' && isInvited(user);
  return isVouched ? { fields: verifiedAs(true) } : {};
}

/** A password that somebody else sets is the only way in. */
function otherWaysRemovedFrom(user: StoredUser, { changes, claims }: ChangeRequest): Change {
  const isSetByOther = changes.password !== undefined && user.id !== claims.id;
  return isSetByOther ? otherWaysRemoved(user) : {};
}

/**
 * Whoever made a user may no longer change that user when the user becomes an admin or an auditor, and when
 * anybody else sets the password, even the same one, or the address.
 */
function makerForgottenOf(user: StoredUser, request: ChangeRequest, isMoved: boolean): Change {
  const { changes, claims } = request;
  const setsCredentials = changes.password !== undefined || isMoved;
  const isOfOther = setsCredentials && user.made_by !== claims.id;
  return promotes(changes) || isOfOther ? makerForgotten : {};
}

/**
 * A new password, even the same one, a demotion and another address of one's own end the earlier sessions;
 * the session of the request goes on, unless the role changes.
 */
function sessionsEndedOf(user: StoredUser, request: ChangeRequest, isMoved: boolean): Change {
  const { changes, claims, bearer } = request;
  const { role = user.role, password } = changes;
  const isOwn = user.id === claims.id;
  const isDemoted = user.role === 'admin' && role === 'user';
  if (password === undefined && !(isOwn && isMoved) && !isDemoted) return {};
  return sessionsEnded(user, isOwn && role === user.role ? bearer?.session : undefined);
}
