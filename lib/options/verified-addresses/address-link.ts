/**
 * The link that verifies an address (functions/README.md, Verified addresses): the address of the user, or
 * another one for which the user has asked.
 */
import { randomUUID } from 'node:crypto';
import { DomainError } from '../../ground/errors.ts';
import { seconds } from '../../ground/time.ts';
import { type Change, merged, type StoredUser } from '../../users/item.ts';
import {
  type FoundLink,
  findLink,
  linkLifetime,
  linkUsed,
  linkVoided,
} from '../links/mailed-link.ts';
import { findOpenSession, type Session, sessionsKey, withSessions } from '../sessions/sessions.ts';
import { isWaiting } from './address.ts';

/** A link with a valid token. */
export interface AddressLink extends FoundLink {
  /** The address to which it was mailed. */
  readonly email: string;
  /** The session that asked for another address; undefined: none, or it has ended since. */
  readonly session: Session | undefined;
  /** Whether it was used already, and has verified the address that the user has. */
  readonly isUsed: boolean;
}

/**
 * The change for a user who asks for another address: it waits for its link, and the link before it is void
 * before anything is mailed, so that it does not tell whether the address is free. If the same address
 * waits already, its link stays valid.
 */
export function addressAwaited(user: StoredUser, email: string, now = new Date()): Change {
  const fields = { pending_email: email, pending_until: seconds(now) + linkLifetime };
  if (isWaiting(user, now) && user.pending_id !== undefined && user.pending_email === email) {
    return { fields };
  }
  return merged(
    { fields: { ...fields, pending_id: randomUUID() } },
    linkVoided('address', user.id), // links
  );
}

/**
 * Reads the link of a token, and its user.
 * @throws {DomainError} VERIFICATION_TOKEN_INVALID for a token that is unknown, altered, expired, void, or of a
 *   suspended user, and for a used one unless it has verified an address; STORAGE_FAULT
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
 * The change that uses a token up, on the condition that it is still valid. Whoever has lost the response sends it again:
 * what is needed to repeat the response is kept.
 */
export function addressLinkUsed(link: FoundLink, now = new Date()): Change {
  const update =
    'SET expires_at = if_not_exists(expires_at, :end), used_hash = :hash REMOVE token_hash, user_state';
  return linkUsed(link, 'VERIFICATION_TOKEN_INVALID', now, update);
}

/**
 * Whether no other address was asked for after a link, and the request for its address was not withdrawn: a
 * link that is mailed late is void too.
 */
function isNewest({ stored, user }: FoundLink, now: Date): boolean {
  return stored.email === user.email
    ? !isWaiting(user, now)
    : stored.pending_id === user.pending_id;
}

/** Whether a token has verified the address that the user has, and no newer link was made since. */
function hasVerified({ stored, user, tokenHash }: FoundLink): boolean {
  return (
    stored.token_hash === undefined &&
    stored.used_hash === tokenHash &&
    stored.email === user.email &&
    user.email_verified === true
  );
}
