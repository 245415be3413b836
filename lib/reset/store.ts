/**
 * The one link of a user for a password reset (functions/README.md, Password reset), and the one that
 * verifies an address (functions/README.md, Verified addresses). The item of each holds a digest of its
 * newest token.
 */
import { createHash, randomBytes } from 'node:crypto';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { send, transact } from '../dynamodb/client.ts';
import { DomainError } from '../errors.ts';
import { config } from '../settings.ts';
import { clockSkew, hour, seconds } from '../time.ts';
import {
  getItems,
  type ItemKey,
  isWaiting,
  type LinkKind,
  linkKey,
  linkLifetime,
  type StoredUser,
  toStoredUser,
  userKey,
  voidLink,
} from '../users/items.ts';
import {
  endingSessions,
  type NamedSession,
  openSession,
  sessionsKey,
  toSessions,
} from '../users/sessions.ts';
import { movingEmail, updateWhileAsRead, voidingLink } from '../users/update.ts';
import { isUserId } from '../users/user.ts';

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

/** The link for a password reset. */
export const resetLink = (user: StoredUser): Link => ({ kind: 'reset', user, email: user.email });

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

/** A link that ends later was made before the clock was set back. */
const farthestEnd = (now: number): number => now + linkLifetime + clockSkew;

const digest = (text: string) => createHash('sha256').update(text).digest('base64url');

/** A token: the user's id, by which its item is found, and 32 random bytes. */
const makeToken = (id: number): string => `${id}.${randomBytes(32).toString('base64url')}`;

const tokenForm = /^([1-9]\d{0,15})\.[\w-]{43}$/;

/** The id of the user whose token a text claims to be. */
const idIn = (token: string): number | undefined => {
  const id = Number(tokenForm.exec(token)?.[1]);
  return isUserId(id) ? id : undefined;
};

/**
 * A digest of the state of a user to which a link is bound. A change of the address makes a link void;
 * a change of the password makes a link for a password reset void too. The digest includes the salt of
 * the hash, so that no password can be tried on it.
 */
const stateOf = (kind: LinkKind, { email, password_hash }: StoredUser): string =>
  digest(JSON.stringify(kind === 'reset' ? [email, password_hash] : [email]));

/**
 * Makes the token of a link, which makes earlier ones of its kind void.
 * @throws {DomainError} STORAGE_FAULT
 */
export const makeLinkToken = async (
  { kind, user, email, sessionId, pendingId }: Link,
  { now = new Date() }: { now?: Date } = {},
): Promise<string> => {
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
};

/** A link with a valid token, and its user as read with it. */
export interface FoundLink extends Link {
  readonly tokenHash: string;
  /** The session that asked for another address; undefined: none, or it has ended since. */
  readonly session: NamedSession | undefined;
  /** Whether it was used already, and has verified the address that the user has. */
  readonly isUsed: boolean;
}

/**
 * Whether no other address was asked for since a link was mailed, which makes it void even if no mail
 * has gone to that one: earlier links must not tell whether it is taken.
 */
const isNewest = (kind: LinkKind, link: StoredLink, user: StoredUser, now: Date): boolean =>
  kind === 'reset' ||
  (link.email === user.email ? !isWaiting(user, now) : link.pending_id === user.pending_id);

/** Whether a token is the newest one of a link that is bound to the user as read. */
const isGood = (kind: LinkKind, link: StoredLink, user: StoredUser, tokenHash: string): boolean =>
  link.token_hash === tokenHash && link.user_state === stateOf(kind, user);

/** Whether a token has verified the address that the user has, and no newer link was made since. */
const hasVerified = (link: StoredLink, user: StoredUser, tokenHash: string): boolean =>
  link.token_hash === undefined &&
  link.used_hash === tokenHash &&
  link.email === user.email &&
  user.email_verified === true;

/**
 * Finds the user of a token.
 * @returns undefined for a token that is unknown, altered, expired or void, and for a used one unless
 *   it has verified an address
 * @throws {DomainError} STORAGE_FAULT
 */
export const findLink = async (
  kind: LinkKind,
  token: string,
  { now = new Date() }: { now?: Date } = {},
): Promise<FoundLink | undefined> => {
  const id = idIn(token);
  if (id === undefined) return undefined;
  const alongside = kind === 'verification' ? [sessionsKey(id)] : [];
  const [link, item, sessions] = await getItems([linkKey(kind, id), userKey(id), ...alongside]);
  if (!link || !item) return undefined;
  const { token_expires_at = 0, email = '', session_id }: StoredLink = link;
  const user = toStoredUser(item);
  const tokenHash = digest(token);
  const isCurrent =
    token_expires_at > seconds(now) && token_expires_at <= farthestEnd(seconds(now));
  if (!isCurrent || !isNewest(kind, link, user, now)) return undefined;
  const isUsed = hasVerified(link, user, tokenHash);
  if (!(isUsed || isGood(kind, link, user, tokenHash))) return undefined;
  const session = openSession(user, toSessions(sessions), session_id, now);
  return { kind, user, email, tokenHash, session, isUsed };
};

/**
 * Uses a token up, on the condition that it is still valid. Whoever has lost the response sends it
 * again: of one that verifies an address, what is needed to repeat the response is kept.
 */
const usingUp = ({ kind, user, tokenHash }: FoundLink, now: Date) => {
  const voiding = voidLink(kind, user.id, { now });
  return {
    Update: {
      ...voiding,
      ...(kind === 'verification'
        ? {
            UpdateExpression:
              'SET expires_at = if_not_exists(expires_at, :end), used_hash = :hash REMOVE token_hash, user_state',
          }
        : {}),
      ConditionExpression:
        'token_hash = :hash AND token_expires_at > :now AND token_expires_at <= :farthest',
      ExpressionAttributeValues: {
        ...voiding.ExpressionAttributeValues,
        ':hash': tokenHash,
        ':now': seconds(now),
        ':farthest': farthestEnd(seconds(now)),
      },
    },
  };
};

/** The condition that the password and the address of a user are as they were read. */
const sameAccount = {
  ConditionExpression: 'password_hash = :hash AND email = :address',
  valuesOf: ({ email, password_hash }: StoredUser) => ({
    ':hash': password_hash,
    ':address': email,
  }),
} as const;

/**
 * In one transaction uses a token up, sets the password, and ends all sessions of the user and the
 * permission of whoever created the user. Whoever has the mail has the address, which is then verified.
 * @param forgotten the key of an item to delete in the same transaction
 * @returns false when the token is not valid any more
 * @throws {DomainError} STORAGE_FAULT
 */
export const useReset = async (
  link: FoundLink,
  password_hash: string,
  { forgotten, now = new Date() }: { forgotten?: ItemKey | undefined; now?: Date },
): Promise<boolean> => {
  const TableName = config.usersTable;
  const { user } = link;
  const verifies = config.emailVerification !== 'off';
  const failed = await transact([
    {
      Update: {
        TableName,
        Key: userKey(user.id),
        ...endingSessions({
          UpdateExpression: `SET password_hash = :fresh${verifies ? ', email_verified = :true' : ''} REMOVE made_by`,
          ExpressionAttributeValues: {
            ...sameAccount.valuesOf(user),
            ':fresh': password_hash,
            ...(verifies ? { ':true': true } : {}),
          },
        }),
        ConditionExpression: sameAccount.ConditionExpression,
      },
    },
    usingUp(link, now),
    ...(forgotten ? [{ Delete: { TableName, Key: { pk: forgotten.pk } } }] : []),
  ]);
  return failed.length === 0;
};

/**
 * In one transaction uses a token up and marks the address to which it was mailed as verified. If the
 * user has another address, this one replaces it, all sessions end but the one that asked for it, and
 * the link of a password reset that was mailed to the old address becomes void.
 * @returns false when the token is not valid any more, or the user has changed
 * @throws {DomainError} EMAIL_REGISTERED when somebody else has taken the address, STORAGE_FAULT
 */
export const useVerification = async (link: FoundLink): Promise<boolean> => {
  const { user, email, session } = link;
  const update = { email, email_verified: true };
  const context = {
    permission: { user, endsWith: {}, session: session ?? null },
    mailsLinks: true,
  };
  const [linkChanged, userChanged, addressChanged, taken] = await transact([
    usingUp(link, new Date()),
    { Update: updateWhileAsRead(user, update, context) },
    ...movingEmail(user, email),
    ...voidingLink(user, update, context),
  ]);
  if (linkChanged || userChanged || addressChanged) return false;
  if (taken) throw new DomainError('EMAIL_REGISTERED');
  return true;
};
