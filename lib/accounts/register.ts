/** How users register, and how others create them (functions/README.md, Callers). */
import { recordFailure, recording, recordingFaults } from '../audit/record.ts';
import { DomainError } from '../ground/errors.ts';
import { logAdminMade } from '../ground/log.ts';
import { config, hidesAccounts, type Language } from '../ground/settings.ts';
import type { Source } from '../ground/source.ts';
import { nonceUsed } from '../keys/nonce.ts';
import type { Tokens } from '../keys/token.ts';
import { attributeDetails, attributesSet } from '../options/attributes/attributes.ts';
import type { Vouched } from '../options/identities/id-token.ts';
import { identitiesClaimed, makeIdentity } from '../options/identities/identities.ts';
import { invitedFrom } from '../options/invitations/invitation.ts';
import { countMail } from '../options/mails/announced-limits.ts';
import {
  invitationMessage,
  takenMessage,
  tryToMail,
  tryToRemind,
} from '../options/mails/hand-over.ts';
import { causeOf } from '../options/mails/sources.ts';
import { countRegistration } from '../options/protection/counters.ts';
import { noteSeen } from '../options/sessions/seen.ts';
import { prepareFirstSession } from '../options/sessions/session-tokens.ts';
import { mustVerify, verifiedAs } from '../options/verified-addresses/address.ts';
import { type NewUser, requireMailable, requireVerifiable } from '../users/fields.ts';
import type { StoredUser } from '../users/item.ts';
import { insertUnseen, insertUser, prepareUser } from '../users/store.ts';
import { creationDetails, type Role } from '../users/user.ts';
import { adminRequired } from '../users/write.ts';
import type { Caller } from './policy.ts';

/**
 * Registers a user. There are no tokens where the address must be verified first.
 * @throws {DomainError} TOO_MANY_ATTEMPTS, EMAIL_REGISTERED, HASHING_FAULT, TOKEN_FAULT, STORAGE_FAULT
 */
export async function register(own: NewUser, source: Source): Promise<Partial<Tokens>> {
  const { fields: attributes } = attributesSet({}, own.attributes); // attributes
  await countRegistration(source.ip_address); // protection
  const creation = { source, action: 'CREATE' } as const;
  const prepared = await recordingFaults(creation, () => prepareUser(own, 'user'));
  const user = {
    ...prepared,
    ...verifiedAs(false), // verified addresses
    ...attributes, // attributes
  };
  // The tokens are issued before the user is stored, so that a failure leaves nothing behind.
  const { tokens, stored } = mustVerify(user)
    ? { tokens: {}, stored: {} }
    : await recordingFaults(creation, () => prepareFirstSession(user, source)); // sessions
  const created = { ...creation, by: user.id, on: user.id, details: detailsOf(user, own) };
  const insert = hidesAccounts(config) ? insertUnseen : insertUser; // private accounts
  try {
    await recording(created, () => insert(user, stored));
  } catch (error) {
    await hideTaken(error, user, source); // private accounts
    return tokens;
  }
  await Promise.all([
    tryToRemind(user, source, 'registration'), // verified addresses
    mustVerify(user) ? undefined : noteSeen(user.id), // sessions
  ]);
  return tokens;
}

/**
 * Registers a user for an identity that is not linked to any user. An identity is never linked to an existing user
 * merely because that user has the same address.
 * @param login the nonce of the ID token, and the name, if one is given
 * @throws {DomainError} EMAIL_NOT_VERIFIED, FIELD_INVALID, TOO_MANY_ATTEMPTS, EMAIL_REGISTERED, IDENTITY_LINKED,
 *   IDENTITY_TOKEN_INVALID for a nonce that was used, TOKEN_FAULT, STORAGE_FAULT
 */
export async function registerByIdentity(
  login: { readonly nonce: string; readonly name?: string | undefined },
  vouched: Vouched,
  source: Source,
): Promise<Tokens> {
  const { email } = vouched;
  if (email === undefined) throw new DomainError('EMAIL_NOT_VERIFIED');
  requireVerifiable(email); // verified addresses
  await countRegistration(source.ip_address); // protection
  const creation = { source, action: 'CREATE' } as const;
  const name = login.name ?? vouched.name ?? nameIn(email);
  const own = { name, email, password: undefined };
  const prepared = await recordingFaults(creation, () => prepareUser(own, 'user'));
  const user = { ...prepared, ...verifiedAs(true), identities: [makeIdentity(vouched)] };
  const { tokens, stored } = await recordingFaults(creation, () =>
    prepareFirstSession(user, source),
  ); // sessions
  const details = { ...creationDetails(user), identity: vouched.issuer };
  const created = { ...creation, by: user.id, on: user.id, details };
  await recording(created, () =>
    insertUser(
      user,
      nonceUsed(login.nonce, 'IDENTITY_TOKEN_INVALID'),
      identitiesClaimed(user), // identities
      stored, // sessions
    ),
  );
  await noteSeen(user.id); // sessions
  return tokens;
}

interface CreatedUser extends Omit<NewUser, 'password'> {
  readonly password?: string | undefined;
  readonly role?: Role | null | undefined;
  readonly invite?: boolean;
  readonly language?: Language;
}

/**
 * Creates a user for a caller, who may change that user as long as the user has `made_by`.
 * @throws {DomainError} FORBIDDEN where the user is to be an admin, and the caller is not stored as an admin;
 *   PASSWORD_OR_INVITATION, ADMIN_INVITED, FIELD_INVALID, MAILS_LIMITED, EMAIL_REGISTERED, HASHING_FAULT,
 *   STORAGE_FAULT
 */
export async function createUser(
  body: CreatedUser,
  { id: by, role: ofCaller }: Caller,
  source: Source,
): Promise<StoredUser> {
  const role = body.role ?? 'user';
  const isInvited = invites(body); // invitations
  const { fields: attributes } = attributesSet({}, body.attributes); // attributes
  const mail = { kind: 'reset', email: body.email, ...source } as const;
  if (isInvited) await countMail(mail, causeOf(by)); // invitations
  const creation = { source, action: 'CREATE', by } as const;
  const own = { ...body, password: isInvited ? undefined : body.password };
  const prepared = await recordingFaults(creation, () => prepareUser(own, role));
  const user = {
    ...prepared,
    ...verifiedAs(ofCaller === 'admin' && !isInvited), // verified addresses
    ...attributes, // attributes
    ...(isInvited ? invitedFrom() : {}), // invitations
    ...makerOf(role, by), // users made by a caller
  };
  const known = detailsOf(user, body);
  const details = isInvited ? { ...known, invited: true } : known; // invitations
  const granted = role === 'admin' ? adminRequired(by) : {};
  await recording({ ...creation, on: user.id, details }, () => insertUser(user, granted));
  if (role === 'admin') logAdminMade(user.id, { by, requestId: source.request_id });
  if (isInvited) await tryToMail(invitationMessage(user, source, body.language), 'counted'); // invitations
  return user;
}

/** Whether a user is to be invited. Nobody is invited with a password, or as an admin. */
function invites({ invite = false, password, role, email }: CreatedUser): boolean {
  if (!invite) return false;
  if ((password ?? '') !== '') throw new DomainError('PASSWORD_OR_INVITATION');
  if (role === 'admin') throw new DomainError('ADMIN_INVITED');
  requireMailable(email);
  return true;
}

/** The field with the maker of a user: neither an admin nor a user whom a machine makes has one. */
function makerOf(role: Role, by: number | undefined) {
  return role === 'admin' || by === undefined ? {} : { made_by: by };
}

function detailsOf(user: StoredUser, { attributes }: Pick<NewUser, 'attributes'>) {
  const { values } = attributeDetails({}, attributes); // attributes
  const details = creationDetails(user);
  return Object.keys(values).length > 0 ? { ...details, ...values } : details;
}

function nameIn(email: string): string {
  return [...email.replace(/@.*/, '')].slice(0, 100).join('');
}

/** Hides that an address is taken: the registration is recorded, and the holder gets a mail. */
async function hideTaken(error: unknown, { email }: StoredUser, source: Source): Promise<void> {
  const isTaken = error instanceof DomainError && error.code === 'EMAIL_REGISTERED';
  if (!isTaken || !hidesAccounts(config)) throw error;
  await recordFailure({ source, action: 'CREATE' }, { reason: 'email_registered' });
  await tryToMail(takenMessage(email, source), 'registration');
}
