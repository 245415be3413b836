/** How PUT /api/users/{id} changes a user: read, decide, write (functions/README.md, Callers). */
import { DomainError } from '../ground/errors.ts';
import { logAdminMade } from '../ground/log.ts';
import { attributeDetails, attributesSet } from '../options/attributes/attributes.ts';
import { hasUnusedInvitation, isInvited } from '../options/invitations/invitation.ts';
import { changedParts, pendingMessage, tryToMail } from '../options/mails/hand-over.ts';
import type { Bearer } from '../options/sessions/bearer.ts';
import { requireNotEndedWithOthers, sessionsEnded } from '../options/sessions/sessions.ts';
import { verifiedAs } from '../options/verified-addresses/address.ts';
import { newAddress } from '../options/verified-addresses/address-link.ts';
import type { UserChanges } from '../users/fields.ts';
import { type Change, merged, type StoredUser, type Way } from '../users/item.ts';
import { hashPassword } from '../users/password.ts';
import { readUser } from '../users/store.ts';
import { changeDetails, isOtherAddress, isPrivileged } from '../users/user.ts';
import { adminRequired, makerForgotten, rewriteUser, writeUser } from '../users/write.ts';
import { type Confirmation, requireConfirmed } from './confirmation.ts';
import { type Caller, requireAllowed } from './policy.ts';
import { recordingAndNotifying } from './recording.ts';
import { otherWaysRemoved, passwordSet } from './ways-in.ts';

export interface ChangeRequest extends Confirmation {
  readonly id: number;
  readonly changes: UserChanges;
  /** The caller, whose id is undefined for a machine; and, where there are sessions, the stored user. */
  readonly caller: Caller;
  readonly bearer: Bearer | undefined;
}

/**
 * Changes a user, records it and notifies the user. Returns the user as changed.
 * @throws {DomainError} USER_NOT_FOUND, FORBIDDEN, SECOND_FACTOR_REQUIRED, TOKEN_INVALID, CURRENT_PASSWORD_REQUIRED,
 *   CURRENT_PASSWORD_WRONG, TOO_MANY_ATTEMPTS, INVITATION_NOT_ACCEPTED, FIELD_INVALID, EMAIL_REGISTERED,
 *   HASHING_FAULT, STORAGE_FAULT, and for users without a password the errors of ID tokens
 */
export async function changeUser(request: ChangeRequest): Promise<StoredUser> {
  const { id, changes, caller, bearer, source } = request;
  const deed = { source, action: 'UPDATE', by: caller.id, on: id } as const;
  const { user, after, awaitsLink } = await recordingAndNotifying(deed, async () => {
    const user = await readUser(id, bearer);
    const confirmedOnce = await confirmedRequest(user, request);
    const { password } = changes;
    const password_hash = password === undefined ? undefined : await hashPassword(password);
    const change = async (current: StoredUser) =>
      writeChange(current, await confirmedRequest(current, confirmedOnce), password_hash);
    return rewriteUser(id, change, user);
  });
  if (changes.role === 'admin' && user.role !== 'admin') {
    logAdminMade(id, { by: caller.id, requestId: source.request_id });
  }
  if (awaitsLink) await tryToMail(pendingMessage(after, source, bearer?.session.id)); // verified addresses
  return after;
}

/** @returns the request to pass to this function when the user is read again */
async function confirmedRequest(user: StoredUser, request: ChangeRequest): Promise<ChangeRequest> {
  requireChangeable(user, request);
  return setsOwnWayIn(user, request) ? requireConfirmed(user, request) : request; // sessions
}

function requireChangeable(user: StoredUser, { id, changes, caller, bearer }: ChangeRequest): void {
  const isSelf = user.id === caller.id;
  if (bearer?.id === id) requireNotEndedWithOthers(user, bearer.session); // sessions
  // The policy checked the body before the user was read (lib/http/endpoint.ts), when the maker was not known.
  const mayBeMaker = caller.id !== undefined && user.made_by === caller.id;
  requireAllowed('changeUser', { ...caller, isSelf, mayBeMaker });
  if (caller.scopes && isPrivileged(user)) throw new DomainError('FORBIDDEN'); // machines
  if (!promotes(changes)) return;
  if (hasUnusedInvitation(user)) throw new DomainError('INVITATION_NOT_ACCEPTED'); // invitations
  // When a caller promotes somebody else, the write checks that the caller is an admin; a caller who promotes
  // themselves is checked here.
  if (isSelf && user.role !== 'admin') throw new DomainError('FORBIDDEN');
}

function promotes({ role, auditor }: UserChanges): boolean {
  return role === 'admin' || auditor === true; // auditors
}

/** Whether callers change their own password or address, which they must confirm. */
function setsOwnWayIn(user: StoredUser, { changes, bearer }: ChangeRequest): boolean {
  const { password, email } = changes;
  return bearer?.id === user.id && (password !== undefined || isOtherAddress(user, email));
}

/**
 * Writes a change, unless it changes nothing.
 * @returns the user before and after, and the contents of the entry and the notice
 */
async function writeChange(
  user: StoredUser,
  request: ChangeRequest,
  password_hash: string | undefined,
) {
  const { changes, caller } = request;
  const { email, password: _, attributes, ...plain } = changes;
  const { addressChange, isMoved, awaitsLink } = await newAddress(user, email, caller);
  const change = merged(
    { fields: plain },
    attributesSet(user, attributes), // attributes
    // Whoever makes another user an admin or auditor must be an admin at the instant of the write.
    promotes(changes) && user.id !== caller.id ? adminRequired(caller.id) : {},
    addressChange, // the address; verified addresses
    newPassword(user, request, password_hash),
    makerForgottenBy(request, user, isMoved), // users made by a caller
    sessionsEndedBy(request, user, isMoved), // sessions
  );
  const isUnchanged = Object.keys(change.fields).length === 0;
  const after = isUnchanged ? user : await writeUser(user, change);
  return { user, after, awaitsLink, ...reportOf(user, request, { ways: change.ways, awaitsLink }) };
}

/** The change that sets a new password, even if it equals the old one. */
function newPassword(
  user: StoredUser,
  { caller }: ChangeRequest,
  password_hash: string | undefined,
): Change {
  if (password_hash === undefined) return {};
  const isVouched = caller.role === 'admin' && isInvited(user);
  return merged(
    passwordSet(password_hash),
    // An admin who sets the first password vouches for the address, as an admin who creates a user does.
    isVouched ? { fields: verifiedAs(true) } : {}, // invitations
    // A password that somebody else sets becomes the only way in.
    user.id === caller.id ? {} : otherWaysRemoved(user), // identities, passkeys
  );
}

/**
 * The maker of a user may no longer change the user once the user becomes an admin or an auditor, or once anybody else
 * sets the password (even to the same value) or the address.
 */
function makerForgottenBy(request: ChangeRequest, user: StoredUser, isMoved: boolean): Change {
  const { changes, caller } = request;
  const setsCredentials = changes.password !== undefined || isMoved;
  const isByOther = setsCredentials && user.made_by !== caller.id;
  return promotes(changes) || isByOther ? makerForgotten : {};
}

/**
 * Earlier sessions are ended by a new password (even if it equals the old one), by a demotion, and when users change
 * their own address. The session of the request stays open, unless the role changes.
 */
function sessionsEndedBy(request: ChangeRequest, user: StoredUser, isMoved: boolean): Change {
  const { changes, caller, bearer } = request;
  const { role = user.role, password } = changes;
  const isOwn = user.id === caller.id;
  const isDemoted = user.role === 'admin' && role === 'user';
  const endsSessions = password !== undefined || (isOwn && isMoved) || isDemoted;
  if (!endsSessions) return {};
  const goesOn = isOwn && role === user.role;
  return sessionsEnded(user, goesOn ? bearer?.session : undefined);
}

/** @param awaitsLink whether the new address is only requested */
function reportOf(
  user: StoredUser,
  { id, changes, caller }: ChangeRequest,
  { ways, awaitsLink }: { readonly ways: readonly Way[]; readonly awaitsLink: boolean },
) {
  const { email: _, ...others } = changes;
  const applied: UserChanges = awaitsLink ? others : changes; // verified addresses
  const { attributes, ...own } = applied;
  const { fields, ...values } = changeDetails(user, own);
  const ofAttributes = attributeDetails(user, attributes); // attributes
  return {
    details: {
      fields: [...fields, ...ofAttributes.fields, ...ways], // attributes, identities, passkeys
      ...values,
      ...ofAttributes.values, // attributes
      ...(awaitsLink ? { requested: ['email'] } : {}), // verified addresses
    },
    // An invited user does not use the account yet, and its address may belong to a stranger.
    parts: isInvited(user) ? [] : [...changedParts(user, applied), ...ways], // invitations
    byAdmin: caller.id !== id && caller.role === 'admin',
  };
}
