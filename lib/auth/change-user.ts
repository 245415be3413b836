/**
 * How PUT /api/users/{id} changes a user: who may, and what the change sets (functions/README.md, Users
 * made by a caller, Current password, Verified addresses).
 */
import { DomainError } from '../errors.ts';
import { config, hidesAccounts } from '../settings.ts';
import type { Bearer } from '../users/bearer.ts';
import { requireVerifiable, type UserChanges } from '../users/fields.ts';
import { unlinking, withoutIdentities } from '../users/identities.ts';
import {
  isWaiting,
  type StoredIdentity,
  type StoredUser,
  verifiedAs,
  waitingForLink,
  waitingForNone,
} from '../users/items.ts';
import { hashPassword } from '../users/password.ts';
import { endedSessions, requireOpen } from '../users/sessions.ts';
import { findUserByEmail } from '../users/store.ts';
import { type Fields, requireAdmin, rewriteUser, takeEmail, writeUser } from '../users/write.ts';
import { type Confirmation, passwordCheck } from './confirmation.ts';
import type { Claims } from './token.ts';

/** A change, and who asks for it. */
export interface ChangeRequest {
  readonly id: number;
  readonly changes: UserChanges;
  /** The caller, by the token and, where there are sessions, as stored. */
  readonly claims: Pick<Claims, 'id' | 'role'>;
  readonly bearer: Bearer | undefined;
  readonly confirmation: Confirmation;
}

/** The outcome of a change. */
export interface Changed {
  readonly before: StoredUser;
  readonly after: StoredUser;
  /** What took effect: all changes but an address that waits for its link; and what was unlinked. */
  readonly applied: UserChanges & { readonly identities?: readonly StoredIdentity[] };
  /** Whether an address waits for its link. */
  readonly awaitsLink: boolean;
}

/** Makes the check of whether the caller may change a user as read. */
const permissionCheck = ({ id, changes, claims, bearer, confirmation }: ChangeRequest) => {
  if (id !== claims.id) {
    return async ({ made_by }: StoredUser): Promise<void> => {
      if (claims.role !== 'admin' && made_by !== claims.id) throw new DomainError('FORBIDDEN');
    };
  }
  if (!bearer) return async () => undefined;
  const checkPassword = passwordCheck(bearer, confirmation);
  return async (user: StoredUser): Promise<void> => {
    requireOpen(user, bearer.session);
    const { password, email = user.email } = changes;
    if (password !== undefined || email !== user.email) await checkPassword(user);
  };
};

/**
 * What another address of one's own sets: where addresses are verified, it waits for its mailed link.
 * Where nobody may know who has an account, this does not look for a holder, who gets a mail instead.
 */
const ownAddress = async (user: StoredUser, email: string): Promise<Fields> => {
  if (config.emailVerification === 'off') return { email };
  const holder = hidesAccounts(config) ? undefined : await findUserByEmail(email);
  if (holder && holder.id !== user.id) throw new DomainError('EMAIL_REGISTERED');
  return waitingForLink(user, email);
};

/** What a change sets of the address. One's own present address ends the wait for another one. */
const addressFields = async (
  user: StoredUser,
  { changes: { email }, claims }: ChangeRequest,
): Promise<Fields> => {
  const isOwn = user.id === claims.id;
  if (email === undefined) return {};
  if (email === user.email) return isOwn && isWaiting(user) ? waitingForNone : {};
  requireVerifiable(email);
  return isOwn ? ownAddress(user, email) : { email, ...verifiedAs(claims.role === 'admin') };
};

/**
 * The identities that a change unlinks: a password that somebody else sets is to be the only way in,
 * because whoever knew the one before may have linked an identity.
 */
const unlinkedBy = (
  { id, identities }: StoredUser,
  { changes, claims }: ChangeRequest,
): Pick<Changed['applied'], 'identities'> =>
  changes.password !== undefined && id !== claims.id && identities ? { identities } : {};

/**
 * What a change sets. A new password, even the same one, a demotion and another address of one's own end
 * the earlier sessions; that of the request goes on, unless the role changes.
 */
const fieldsOf = async (
  user: StoredUser,
  request: ChangeRequest,
  hash: () => Promise<string>,
): Promise<Fields> => {
  const { changes, claims, bearer } = request;
  const { password, email: _, ...shown } = changes;
  const address = await addressFields(user, request);
  const isOwn = user.id === claims.id;
  const isDemoted = user.role === 'admin' && shown.role === 'user';
  const endsSessions = password !== undefined || (isOwn && address.email) || isDemoted;
  const kept = isOwn && (shown.role ?? user.role) === user.role ? bearer?.session : undefined;
  return {
    ...shown,
    ...(password === undefined ? {} : { password_hash: await hash() }),
    ...address,
    ...(endsSessions ? endedSessions(user, kept) : {}),
  };
};

/** The steps by which whoever makes a user an admin must be one at the instant of the write. */
const grantorSteps = (user: StoredUser, { changes, claims }: ChangeRequest) => {
  if (changes.role !== 'admin') return [];
  if (user.id !== claims.id) return [requireAdmin(claims.id)];
  // The write requires that the user is as it was read.
  if (user.role !== 'admin') throw new DomainError('FORBIDDEN');
  return [];
};

/**
 * Changes a user.
 * @throws {DomainError} USER_NOT_FOUND, FORBIDDEN, TOKEN_INVALID, CURRENT_PASSWORD_REQUIRED,
 *   CURRENT_PASSWORD_WRONG, TOO_MANY_ATTEMPTS, FIELD_INVALID, EMAIL_REGISTERED, HASHING_FAULT, STORAGE_FAULT, and for
 *   users without a password the errors of identities
 */
export const changeUser = (request: ChangeRequest): Promise<Changed> => {
  const { id, changes, claims, bearer } = request;
  const check = permissionCheck(request);
  let hashed: Promise<string> | undefined;
  const hash = () => {
    hashed ??= hashPassword(changes.password ?? '');
    return hashed;
  };
  const attempt = async (user: StoredUser): Promise<Changed | undefined> => {
    await check(user);
    const unlinked = unlinkedBy(user, request);
    const fields = { ...(await fieldsOf(user, request, hash)), ...withoutIdentities(unlinked) };
    const steps = [
      ...grantorSteps(user, request),
      ...takeEmail(user, fields.email),
      ...unlinking(user, unlinked.identities ?? []),
    ];
    const isUnchanged = Object.keys(fields).length === 0;
    const after = isUnchanged ? user : await writeUser(user, fields, { by: claims.id, steps });
    const { email, ...others } = changes;
    const awaitsLink = fields.pending_email !== undefined;
    const applied = { ...(awaitsLink ? others : changes), ...unlinked };
    return after && { before: user, after, applied, awaitsLink };
  };
  return rewriteUser(id, attempt, bearer?.id === id ? bearer : undefined);
};
