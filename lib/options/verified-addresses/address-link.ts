/**
 * Gives another address to a user, and reads and uses the link that verifies an address (functions/README.md, Verified
 * addresses): the address of the user, or another address that the user has requested.
 */
import { randomUUID } from 'node:crypto';
import { DomainError } from '../../ground/errors.ts';
import { config, handsMailsOver, hidesAccounts } from '../../ground/settings.ts';
import { seconds } from '../../ground/time.ts';
import { requireVerifiable } from '../../users/fields.ts';
import { type Change, merged, type StoredUser } from '../../users/item.ts';
import { findUserByEmail } from '../../users/store.ts';
import { isOtherAddress, type Role } from '../../users/user.ts';
import { emailClaimed } from '../../users/write.ts';
import { invitationLinkVoided, isInvited } from '../invitations/invitation.ts';
import {
  type FoundLink,
  findLink,
  linkLifetime,
  linkUsed,
  linkVoided,
} from '../links/mailed-link.ts';
import { findOpenSession, type Session, sessionsKey, withSessions } from '../sessions/sessions.ts';
import { awaitsLink, noAddressAwaited, unverifiedAddress, verifiedAs } from './address.ts';

/** A link with a valid token. */
export interface AddressLink extends FoundLink {
  readonly email: string;
  /** The session that requested another address; undefined: no session did, or it has ended since then. */
  readonly session: Session | undefined;
  /** Whether the link was already used, and has verified the user's present address. */
  readonly isUsed: boolean;
}

interface NewAddress {
  readonly addressChange: Change;
  /** Whether the address replaces another address at once; the two may differ only in letter case. */
  readonly isMoved: boolean;
  /** Whether the address is only requested, and waits for its link. */
  readonly awaitsLink: boolean;
}

/** The caller who changes an address; without an id, a machine. */
interface By {
  readonly id?: number | undefined;
  readonly role?: Role | undefined;
}

/**
 * The change of a user's address. If addresses are verified, a new address that users request for themselves waits for
 * its link, and a request with the present address ends the wait. If responses must not reveal who has an account, it
 * is not checked whether somebody else has the address; instead, the mail informs the holder of the address.
 */
export async function newAddress(
  user: StoredUser,
  email: string | undefined,
  by: By,
): Promise<NewAddress> {
  const isOwn = user.id === by.id;
  if (email === undefined || email === user.email) {
    const isWithdrawn = email !== undefined && isOwn && awaitsLink(user);
    const addressChange = isWithdrawn ? noAddressAwaited : {};
    return { addressChange, isMoved: false, awaitsLink: false };
  }
  requireVerifiable(email);
  if (!isOwn || config.emailVerification === 'off') {
    const addressChange = merged(addressMoved(user, email), addressVerifiedBy(by, user));
    return { addressChange, isMoved: true, awaitsLink: false };
  }
  const holder = hidesAccounts(config) ? undefined : await findUserByEmail(email);
  if (holder && holder.id !== user.id) throw new DomainError('EMAIL_REGISTERED');
  return { addressChange: addressAwaited(user, email), isMoved: false, awaitsLink: true };
}

/**
 * The change for a user who requests another address, which waits for its link. The earlier link is made void before
 * any mail is sent, so that the state of the earlier link does not reveal whether the address is free. If the same
 * address is already waiting, its link stays valid.
 */
export function addressAwaited(user: StoredUser, email: string, now = new Date()): Change {
  const fields = { pending_email: email, pending_until: seconds(now) + linkLifetime };
  if (awaitsLink(user, now) && user.pending_id !== undefined && user.pending_email === email) {
    return { fields };
  }
  return merged(
    { fields: { ...fields, pending_id: randomUUID() } },
    linkVoided('address', user.id), // links
  );
}

/** Links that were mailed to the former address become void: the user may later take that address again. */
export function addressMoved(user: StoredUser, email: string): Change {
  if (!isOtherAddress(user, email)) return {};
  return merged(
    { fields: { email } },
    noAddressAwaited, // verified addresses
    invitationLinkVoided(user), // invitations
    emailClaimed(user, email),
    handsMailsOver() ? linkVoided('reset', user.id) : {}, // links
  );
}

/**
 * Reads the link of a token, and its user.
 * @throws {DomainError} VERIFICATION_TOKEN_INVALID for a token that is unknown, altered, expired or void, or whose user
 *   is suspended, and for a used token unless it has verified the user's present address
 */
export async function readAddressLink(token: string, now = new Date()): Promise<AddressLink> {
  const link = await findLink('address', token, now, sessionsKey);
  const isUsed = link !== undefined && hasVerified(link);
  if (!link || !isNewest(link, now) || !(isUsed || link.isGood)) {
    throw new DomainError('VERIFICATION_TOKEN_INVALID');
  }
  const { user, stored, other } = link;
  const { email = '', session_id } = stored;
  const session = findOpenSession(withSessions(user, other), session_id, now);
  return { ...link, email, session, isUsed };
}

/**
 * The change that uses up a token, on the condition that it is still valid. The data that repeat the response are kept,
 * because a client that lost the response sends the token again.
 */
export function addressLinkUsed(link: FoundLink, now = new Date()): Change {
  const update =
    'SET expires_at = if_not_exists(expires_at, :end), used_hash = :hash REMOVE token_hash, user_state';
  return linkUsed(link, 'VERIFICATION_TOKEN_INVALID', now, update);
}

/**
 * The change that marks a new address as verified, or not. It is verified if an admin sets it and the user is not
 * invited. While the service does not verify addresses, no new address is verified, and the mark of the former address
 * must not be kept for the new address.
 */
function addressVerifiedBy({ role }: By, user: StoredUser): Change {
  const isVerified = role === 'admin' && !isInvited(user); // invitations
  return { fields: { ...unverifiedAddress, ...verifiedAs(isVerified) } };
}

/** Whether a token has verified the user's present address, and no link was made since then. */
function hasVerified({ stored, user, tokenHash }: FoundLink): boolean {
  return (
    stored.token_hash === undefined &&
    stored.used_hash === tokenHash &&
    stored.email === user.email &&
    user.email_verified === true
  );
}

/**
 * Whether the request that caused the link is still the user's newest request: the user has neither requested another
 * address since then, nor withdrawn this request. So a link that is mailed late can be void from the beginning.
 */
function isNewest({ stored, user }: FoundLink, now: Date): boolean {
  return stored.email === user.email
    ? !awaitsLink(user, now)
    : stored.pending_id === user.pending_id;
}
