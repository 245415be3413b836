/** How PUT /api/users/{id} changes a user: read, decide, write (functions/README.md, Callers). */
import { audited } from '../audit/record.ts';
import type { Step } from '../dynamodb/client.ts';
import { DomainError } from '../ground/errors.ts';
import { logAdminMade } from '../ground/log.ts';
import type { Source } from '../ground/source.ts';
import type { Claims } from '../keys/token.ts';
import {
  changedParts,
  pendingMessage,
  tryToMail,
  tryToNotify,
} from '../options/mails/hand-over.ts';
import type { Bearer } from '../options/sessions/bearer.ts';
import { endedSessions, requireOpen } from '../options/sessions/sessions.ts';
import { isWaiting } from '../options/verified-addresses/address.ts';
import type { UserChanges } from '../users/fields.ts';
import type { StoredUser } from '../users/item.ts';
import { hashPassword } from '../users/password.ts';
import { changeDetails } from '../users/user.ts';
import {
  type Change,
  type Fields,
  merged,
  requireAdmin,
  rewriteUser,
  writeUser,
} from '../users/write.ts';
import { type Confirmation, confirmPassword } from './confirmation.ts';
import { newAddress } from './new-address.ts';
import { lacksFactor, requireAllowed } from './policy.ts';
import { withoutOtherWays } from './ways-in.ts';

/** A change, and who asks for it. */
export interface ChangeRequest {
  readonly id: number;
  readonly changes: UserChanges;
  /** The caller, by the token with the role in force and, where there are sessions, as stored. */
  readonly claims: Pick<Claims, 'id' | 'role'>;
  readonly bearer: Bearer | undefined;
  readonly confirmation: Confirmation;
  readonly source: Source;
  /** The hash of the new password, which is made once, however often the change is tried. */
  passwordHash?: string;
}

/**
 * Changes a user, records it and notifies the user.
 * @returns the user as changed
 * @throws {DomainError} USER_NOT_FOUND, FORBIDDEN, TOKEN_INVALID, CURRENT_PASSWORD_REQUIRED,
 *   CURRENT_PASSWORD_WRONG, TOO_MANY_ATTEMPTS, FIELD_INVALID, EMAIL_REGISTERED, HASHING_FAULT,
 *   STORAGE_FAULT, and for users without a password the errors of identities
 */
export async function changeUser(request: ChangeRequest): Promise<StoredUser> {
  const { id, claims, bearer, source } = request;
  const known = bearer?.id === id ? bearer : undefined;
  const change = { ...source, action: 'UPDATE', user_id: claims.id, resource_id: id } as const;
  const { before, after, applied, awaitsLink } = await audited(change, async (entry) => {
    const changed = await rewriteUser(id, (user) => tryToChange(user, request), known);
    const requested = changed.awaitsLink ? { requested: ['email'] } : {};
    entry.details = { ...changeDetails(changed.before, changed.applied), ...requested };
    return changed;
  });
  if (applied.role === 'admin' && before.role !== 'admin') {
    logAdminMade(id, { by: claims.id, requestId: source.request_id });
  }
  await tryToNotify(before, changedParts(before, applied), source); // mails
  if (awaitsLink) await tryToMail(pendingMessage(after, source, bearer?.session.id)); // verified addresses
  return after;
}

/** The outcome of a change. */
interface Changed {
  readonly before: StoredUser;
  readonly after: StoredUser;
  /** The changes that took effect: all but an address that waits for its link; and unlinked identities. */
  readonly applied: UserChanges & Fields;
  readonly awaitsLink: boolean;
}

/** Decides what a change sets of a user as read, and writes it. */
async function tryToChange(user: StoredUser, request: ChangeRequest): Promise<Changed> {
  requirePermission(user, request);
  await requireConfirmation(user, request); // sessions
  const { email: _, ...others } = request.changes;
  const { password: __, ...plain } = others;
  const password = await newPassword(request);
  const address = await newAddress(user, request.changes.email, request.claims); // verified addresses
  const otherWays = otherWaysEnded(user, request); // identities
  const change = merged(
    { fields: plain, steps: grantorSteps(user, request) },
    { fields: password },
    address,
    otherWays,
    { fields: withoutMaker(user, request, address.fields) }, // users made by a caller
    { fields: endedSessionsFor(user, request, address.fields) }, // sessions
  );
  const isUnchanged = Object.keys(change.fields).length === 0;
  const after = isUnchanged ? user : await writeUser(user, change);
  const awaitsLink = isWaiting(address.fields);
  const applied = {
    ...(awaitsLink ? others : request.changes),
    ...otherWays.fields,
  };
  return { before: user, after, applied, awaitsLink };
}

function requirePermission(user: StoredUser, { claims, bearer }: ChangeRequest): void {
  const asking = {
    role: claims.role,
    isSelf: user.id === claims.id,
    mayBeMaker: user.made_by === claims.id,
    lacksFactor: lacksFactor(bearer, claims.role),
  };
  requireAllowed('changeUser', asking);
}

/** Where there are sessions, that of the request must be open, and one's own credentials want a password. */
async function requireConfirmation(user: StoredUser, request: ChangeRequest): Promise<void> {
  const { changes, bearer, confirmation } = request;
  if (bearer?.id !== user.id) return;
  requireOpen(user, bearer.session);
  const { password, email = user.email } = changes;
  if (password !== undefined || email !== user.email) await confirmPassword(user, confirmation);
}

async function newPassword(request: ChangeRequest): Promise<Fields> {
  const { password } = request.changes;
  if (password === undefined) return {};
  request.passwordHash ??= await hashPassword(password);
  return { password_hash: request.passwordHash };
}

/** The change that leaves the password as the only way in, where somebody else sets it. */
function otherWaysEnded(user: StoredUser, { changes, claims }: ChangeRequest): Change {
  const isSet = changes.password !== undefined && user.id !== claims.id;
  return isSet ? withoutOtherWays(user) : { fields: {} };
}

/** The steps by which whoever makes a user an admin must be one at the instant of the write. */
function grantorSteps(user: StoredUser, { changes, claims }: ChangeRequest): readonly Step[] {
  if (changes.role !== 'admin') return [];
  if (user.id !== claims.id) return [requireAdmin(claims.id)];
  // The write requires that the user is as it was read.
  if (user.role !== 'admin') throw new DomainError('FORBIDDEN');
  return [];
}

/**
 * Whoever made a user may no longer change that user when the user becomes an admin, and when anybody else
 * sets the password, even the same one, or the address.
 */
function withoutMaker(
  user: StoredUser,
  { changes, claims }: ChangeRequest,
  { email }: Fields,
): Fields {
  const setsCredentials = changes.password !== undefined || email !== undefined;
  const isOfOther = setsCredentials && user.made_by !== claims.id;
  return changes.role === 'admin' || isOfOther ? { made_by: undefined } : {};
}

/**
 * A new password, even the same one, a demotion and another address of one's own end the earlier sessions;
 * that of the request goes on, unless the role changes.
 */
function endedSessionsFor(user: StoredUser, request: ChangeRequest, { email }: Fields): Fields {
  const { changes, claims, bearer } = request;
  const { role = user.role, password } = changes;
  const isOwn = user.id === claims.id;
  const isDemoted = user.role === 'admin' && role === 'user';
  if (password === undefined && !(isOwn && email) && !isDemoted) return {};
  return endedSessions(user, isOwn && role === user.role ? bearer?.session : undefined);
}
