/**
 * The one link of a user to reset a password (functions/README.md, Password reset), and the one that
 * verifies an address (functions/README.md, Verified addresses). The item of each holds a digest of its
 * newest token.
 */
import { createHash, randomBytes } from 'node:crypto';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { type Step, send } from '../../dynamodb/client.ts';
import { DomainError } from '../../ground/errors.ts';
import { config } from '../../ground/settings.ts';
import { hour, seconds } from '../../ground/time.ts';
import { getItems, type StoredUser, userKey } from '../../users/item.ts';
import { isSuspended, isUserId } from '../../users/user.ts';
import { openSession, type Session, sessionsKey, withSessions } from '../sessions/sessions.ts';
import { isWaiting } from '../verified-addresses/address.ts';
import { type LinkKind, linkKey, linkLifetime, voidLink } from './item.ts';

/** A link to be made: of a user, and mailed to an address. */
export interface Link {
  readonly kind: LinkKind;
  readonly user: StoredUser;
  /** The address of the user, or another one that the link gives to the user. */
  readonly email: string;
  /** The id of the session that asked for another address. */
  readonly sessionId?: string | undefined;
  /** The `pending_id` of the user, for another address. */
  readonly pendingId?: string | undefined;
}

/** Times are seconds since 1970. */
export interface StoredLink {
  /** SHA-256 of the newest token; absent when the token was used or made void. */
  readonly token_hash?: string;
  readonly token_expires_at?: number;
  /** The token that was used last to verify an address, until that expires. */
  readonly used_hash?: string;
  /** A digest of the fields of the user to which the link is bound. */
  readonly user_state?: string;
  /** The address to which it was mailed. */
  readonly email?: string;
  /** The session that asked for another address. */
  readonly session_id?: string;
  /** The request for another address: the `pending_id` of the user. */
  readonly pending_id?: string;
}

/** A link with a valid token, and its user as read with it. */
export interface FoundLink extends Link {
  readonly tokenHash: string;
  /** The session that asked for another address; undefined: none, or it has ended since. */
  readonly session: Session | undefined;
  /** Whether it was used already, and has verified the address that the user has. */
  readonly isUsed: boolean;
}

/** The link for a password reset. */
export function resetLink(user: StoredUser): Link {
  return { kind: 'reset', user, email: user.email };
}

/**
 * Makes the token of a link, which makes earlier ones of its kind void.
 * @throws {DomainError} STORAGE_FAULT
 */
export async function makeLinkToken(
  { kind, user, email, sessionId, pendingId }: Link,
  now = new Date(),
): Promise<string> {
  const token = makeToken(user.id);
  const link: StoredLink & { expires_at: number } = {
    token_hash: digest(token),
    token_expires_at: seconds(now) + linkLifetime,
    user_state: stateOf(kind, user),
    email,
    expires_at: seconds(now) + hour,
    ...(sessionId === undefined ? {} : { session_id: sessionId }),
    ...(pendingId === undefined ? {} : { pending_id: pendingId }),
  };
  await send(
    new PutCommand({ TableName: config.usersTable, Item: { ...linkKey(kind, user.id), ...link } }),
  );
  return token;
}

const errors = { reset: 'RESET_TOKEN_INVALID', address: 'VERIFICATION_TOKEN_INVALID' } as const;

/**
 * Reads the link of a token, and its user.
 * @throws {DomainError} RESET_TOKEN_INVALID or VERIFICATION_TOKEN_INVALID for a token that is unknown,
 *   altered, expired or void, and for a used one unless it has verified an address; STORAGE_FAULT
 */
export async function readLink(
  kind: LinkKind,
  token: string,
  now = new Date(),
): Promise<FoundLink> {
  const link = await find(kind, token, now);
  if (!link) throw new DomainError(errors[kind]);
  return link;
}

/**
 * Uses a token up, on the condition that it is still valid. Whoever has lost the response sends it
 * again: of one that verifies an address, what is needed to repeat the response is kept.
 */
export function useLink({ kind, user, tokenHash }: FoundLink, now = new Date()): Step {
  const voiding = voidLink(kind, user.id, now);
  const keepingUsed =
    'SET expires_at = if_not_exists(expires_at, :end), used_hash = :hash REMOVE token_hash, user_state';
  return [
    {
      Update: {
        ...voiding,
        ...(kind === 'address' ? { UpdateExpression: keepingUsed } : {}),
        ConditionExpression: 'token_hash = :hash AND token_expires_at > :now',
        ExpressionAttributeValues: {
          ...voiding.ExpressionAttributeValues,
          ':hash': tokenHash,
          ':now': seconds(now),
        },
      },
    },
    errors[kind],
  ];
}

/** A token: the user's id, by which its item is found, and 32 random bytes. */
const makeToken = (id: number): string => `${id}.${randomBytes(32).toString('base64url')}`;

const digest = (text: string) => createHash('sha256').update(text).digest('base64url');

/**
 * A digest of the state of a user to which a link is bound. A change of the address makes a link void;
 * a change of the password makes a link for a password reset void too. The digest includes the salt of
 * the hash, so that no password can be tried on it.
 */
function stateOf(kind: LinkKind, { email, password_hash }: StoredUser): string {
  return digest(JSON.stringify(kind === 'reset' ? [email, password_hash] : [email]));
}

async function find(kind: LinkKind, token: string, now: Date): Promise<FoundLink | undefined> {
  const id = idIn(token);
  if (id === undefined) return undefined;
  const ofUser = [linkKey(kind, id), userKey(id)];
  const [link, item, sessions] = await getItems(
    kind === 'address' ? [...ofUser, sessionsKey(id)] : ofUser,
  );
  const user = item as StoredUser | undefined;
  if (!link || !user || isSuspended(user)) return undefined;
  const { token_expires_at = 0, email = '', session_id }: StoredLink = link;
  const tokenHash = digest(token);
  if (token_expires_at <= seconds(now) || !isNewest(kind, link, user, now)) return undefined;
  const isUsed = hasVerified(link, user, tokenHash);
  if (!isUsed && !isGood(kind, link, user, tokenHash)) return undefined;
  const session = openSession(withSessions(user, sessions), session_id, now);
  return { kind, user, email, tokenHash, session, isUsed };
}

const tokenForm = /^([1-9]\d{0,15})\.[\w-]{43}$/;

/** The id of the user whose token a text claims to be. */
function idIn(token: string): number | undefined {
  const id = Number(tokenForm.exec(token)?.[1]);
  return isUserId(id) ? id : undefined;
}

/**
 * Whether no other address was asked for after a link, and the request for its address was not withdrawn: a
 * link that is mailed late is void too.
 */
function isNewest(kind: LinkKind, link: StoredLink, user: StoredUser, now: Date): boolean {
  return (
    kind === 'reset' ||
    (link.email === user.email ? !isWaiting(user, now) : link.pending_id === user.pending_id)
  );
}

/** Whether a token has verified the address that the user has, and no newer link was made since. */
function hasVerified(link: StoredLink, user: StoredUser, tokenHash: string): boolean {
  return (
    link.token_hash === undefined &&
    link.used_hash === tokenHash &&
    link.email === user.email &&
    user.email_verified === true
  );
}

/** Whether a token is the newest one of a link that is bound to the user as read. */
function isGood(kind: LinkKind, link: StoredLink, user: StoredUser, tokenHash: string): boolean {
  return link.token_hash === tokenHash && link.user_state === stateOf(kind, user);
}
