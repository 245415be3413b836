/**
 * Links that are mailed to users. A user has at most one link of each kind: a link that sets a password
 * (functions/README.md, Password reset), and a link that verifies an address (../verified-addresses/address-link.ts).
 * The item of a link holds a digest of its newest token.
 */
import { createHash, randomBytes } from 'node:crypto';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { send } from '../../dynamodb/client.ts';
import { itemKey } from '../../dynamodb/tables.ts';
import { DomainError, type ErrorCode } from '../../ground/errors.ts';
import { config } from '../../ground/settings.ts';
import { hour, seconds } from '../../ground/time.ts';
import { type Change, getItems, type ItemKey, type StoredUser, userKey } from '../../users/item.ts';
import { isSuspended, isUserId } from '../../users/user.ts';

export type LinkKind = 'reset' | 'address';

/** Seconds for which a mailed link is valid. */
export const linkLifetime = 30 * 60;

export interface Link {
  readonly kind: LinkKind;
  readonly user: StoredUser;
  /** The address of the user, or another address that the link gives to the user. */
  readonly email: string;
  /** The id of the session that requested another address. */
  readonly sessionId?: string | undefined;
  /** The `pending_id` of the user, if the link is for another address. */
  readonly pendingId?: string | undefined;
  /** Seconds for which the link is valid; absent: {@link linkLifetime}. */
  readonly lifetime?: number;
}

/** Times are seconds since 1970. */
export interface StoredLink {
  /** SHA-256 of the newest token; absent when the token was used or made void. */
  readonly token_hash?: string;
  readonly token_expires_at?: number;
  /** SHA-256 of the token that was last used to verify an address, until that token expires. */
  readonly used_hash?: string;
  /** A digest of the fields of the user to which the link is bound. */
  readonly user_state?: string;
  readonly email?: string;
  readonly session_id?: string;
  /** The request for another address: the `pending_id` of the user. */
  readonly pending_id?: string;
}

/** A link that has not expired, and its user, which were read at the same time. */
export interface FoundLink {
  readonly kind: LinkKind;
  readonly user: StoredUser;
  readonly stored: StoredLink;
  /** Another item that was read at the same time. */
  readonly other: object | undefined;
  readonly tokenHash: string;
  /** Whether the token is the newest token, and was made for the present state of the user. */
  readonly isGood: boolean;
}

/** The link for a password reset. */
export function resetLink(user: StoredUser): Link {
  return { kind: 'reset', user, email: user.email };
}

/** Makes the token of a link, and makes earlier tokens of the same kind void. */
export async function makeLinkToken(
  { kind, user, email, sessionId, pendingId, lifetime = linkLifetime }: Link,
  now = new Date(),
): Promise<string> {
  // The item of the link is found by the user's id.
  const token = `${user.id}.${randomBytes(32).toString('base64url')}`;
  const link: StoredLink & { expires_at: number } = {
    token_hash: digest(token),
    token_expires_at: seconds(now) + lifetime,
    user_state: stateOf(kind, user),
    email,
    expires_at: seconds(now) + lifetime + linkLifetime,
    ...(sessionId === undefined ? {} : { session_id: sessionId }),
    ...(pendingId === undefined ? {} : { pending_id: pendingId }),
  };
  await send(
    new PutCommand({ TableName: config.usersTable, Item: { ...linkKey(kind, user.id), ...link } }),
  );
  return token;
}

/**
 * Reads the link of a token that resets a password, and its user.
 * @throws {DomainError} RESET_TOKEN_INVALID for a token that is unknown, altered, used, expired or void, or whose user
 *   is suspended
 */
export async function readResetLink(token: string, now = new Date()): Promise<FoundLink> {
  const link = await findLink('reset', token, now);
  if (!link?.isGood) throw new DomainError('RESET_TOKEN_INVALID');
  return link;
}

/**
 * Reads the link of the user whom a token names, unless the link has expired or the user is suspended.
 * @param otherOf makes the key of another item of the user, which is read at the same time
 */
export async function findLink(
  kind: LinkKind,
  token: string,
  now: Date,
  otherOf?: (id: number) => ItemKey,
): Promise<FoundLink | undefined> {
  const id = idIn(token);
  if (id === undefined) return undefined;
  const keys = [linkKey(kind, id), userKey(id), ...(otherOf ? [otherOf(id)] : [])];
  const [link, item, other] = await getItems(keys);
  const user = item as StoredUser | undefined;
  if (!link || !user) return undefined;
  if (isSuspended(user)) return undefined; // suspension
  const stored: StoredLink = link;
  if ((stored.token_expires_at ?? 0) <= seconds(now)) return undefined;
  const tokenHash = digest(token);
  const isGood = stored.token_hash === tokenHash && stored.user_state === stateOf(kind, user);
  return { kind, user, stored, other, tokenHash, isGood };
}

/** The change that uses up the token of a reset, on the condition that the token is still valid. */
export function resetLinkUsed(link: FoundLink, now = new Date()): Change {
  return linkUsed(link, 'RESET_TOKEN_INVALID', now);
}

/**
 * The change that uses up a token, on the condition that the token is still valid.
 * @param error the code of the error that is thrown if the token is not valid
 * @param UpdateExpression the update of the link's item; by default it makes the link void
 */
export function linkUsed(
  { kind, user, tokenHash }: FoundLink,
  error: ErrorCode,
  now: Date,
  UpdateExpression = voiding,
): Change {
  const ConditionExpression = 'token_hash = :hash AND token_expires_at > :now';
  const values = { ':end': seconds(now) + hour, ':hash': tokenHash, ':now': seconds(now) };
  const update = { UpdateExpression, ConditionExpression, ExpressionAttributeValues: values };
  return { steps: [[{ Update: { ...itemOf(kind, user.id), ...update } }, error]] };
}

export function linkVoided(kind: LinkKind, id: number, now = new Date()): Change {
  const values = { ':end': seconds(now) + hour };
  const update = { UpdateExpression: voiding, ExpressionAttributeValues: values };
  return { steps: [[{ Update: { ...itemOf(kind, id), ...update } }]] };
}

const voiding =
  'SET expires_at = if_not_exists(expires_at, :end) REMOVE token_hash, token_expires_at, user_state';

function itemOf(kind: LinkKind, id: number) {
  return { TableName: config.usersTable, Key: linkKey(kind, id) };
}

function linkKey(kind: LinkKind, id: number): ItemKey {
  return itemKey(`${kind}#*`, id);
}

function digest(text: string) {
  return createHash('sha256').update(text).digest('base64url');
}

/**
 * A digest of the user's state to which a link is bound. A change of the address, or a suspension, makes every link
 * void. A link that sets a password also becomes void when the password or the invitation changes. The digest includes
 * the salt of the hash, so that it cannot be used to guess passwords.
 */
function stateOf(kind: LinkKind, user: StoredUser): string {
  const { email, password_hash, invited_until, suspensions } = user;
  const ofPassword = kind === 'reset' ? [password_hash, invited_until] : [];
  return digest(JSON.stringify([email, ...ofPassword, ...(suspensions ? [suspensions] : [])]));
}

const tokenForm = /^([1-9]\d{0,15})\.[\w-]{43}$/;

/** The id of the user in the text of a token; the token is not checked. */
function idIn(token: string): number | undefined {
  const id = Number(tokenForm.exec(token)?.[1]);
  return isUserId(id) ? id : undefined;
}
