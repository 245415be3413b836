/**
 * The one link of a user for a password reset (functions/README.md, Password reset). Its item holds
 * a digest of the newest token, and the recent mails, which are limited.
 */
import { createHash, randomBytes } from 'node:crypto';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { send, transact } from '../dynamodb/client.ts';
import { config } from '../settings.ts';
import { clockSkew, seconds } from '../time.ts';
import {
  getItems,
  hour,
  type ItemKey,
  resetKey,
  type StoredUser,
  toStoredUser,
  userKey,
  voidingReset,
} from '../users/items.ts';
import { endingSessions } from '../users/sessions.ts';
import { isUserId } from '../users/user.ts';

/** Times are seconds since 1970. */
export interface StoredReset {
  /** SHA-256 of the newest token; absent when the token was used or made void. */
  readonly token_hash?: string;
  readonly token_expires_at?: number;
  /** A digest of the user's address and password hash, which must be unchanged. */
  readonly user_state?: string;
  /** The request that was mailed last, or is being mailed. */
  readonly request_id?: string;
  /** A new id for each delivery that claims a request. */
  readonly claim?: string;
  /** The time until which no other delivery may mail the request. */
  readonly claimed_until?: number;
  /** Whether the request is done. */
  readonly sent?: true;
  /** The requests of the last hour for which mails were made, and when. */
  readonly mailed?: readonly { readonly request_id: string; readonly at: number }[];
}

/** Seconds. */
const tokenLifetime = 30 * 60;
/** A link that ends later was made before the clock was set back. */
const farthestEnd = (now: number): number => now + tokenLifetime + clockSkew;

const digest = (text: string) => createHash('sha256').update(text).digest('base64url');

/** A token: the user's id, by which its item is found, and 32 random bytes. */
export const makeToken = (id: number): string => `${id}.${randomBytes(32).toString('base64url')}`;

const tokenForm = /^([1-9]\d{0,15})\.[\w-]{43}$/;

/** Whose token a text claims to be. */
const idIn = (token: string): number | undefined => {
  const id = Number(tokenForm.exec(token)?.[1]);
  return isUserId(id) ? id : undefined;
};

/**
 * The state of a user to which a link is bound: after a change of the password or the address it is
 * void. The digest includes the salt of the hash, so that no password can be tried on it.
 */
const stateOf = ({ email, password_hash }: StoredUser): string =>
  digest(JSON.stringify([email, password_hash]));

/** The update that writes a new token, and keeps the mails that the item lists. */
export const newToken = (user: StoredUser, token: string, now: number) => ({
  UpdateExpression:
    'SET token_hash = :hash, token_expires_at = :until, user_state = :state, expires_at = :end',
  ExpressionAttributeValues: {
    ':hash': digest(token),
    ':until': now + tokenLifetime,
    ':state': stateOf(user),
    ':end': now + hour,
  },
});

/**
 * Makes the token of a link for a user, which makes earlier ones void.
 * @throws {DomainError} STORAGE_FAULT
 */
export const makeResetToken = async (
  user: StoredUser,
  { now = new Date() }: { now?: Date } = {},
): Promise<string> => {
  const token = makeToken(user.id);
  const update = newToken(user, token, seconds(now));
  await send(
    new UpdateCommand({ TableName: config.usersTable, Key: resetKey(user.id), ...update }),
  );
  return token;
};

/** A valid token, and its user as read with it. */
export interface FoundReset {
  readonly user: StoredUser;
  readonly tokenHash: string;
}

/**
 * Finds the user of a token.
 * @returns undefined for a token that is unknown, altered, used, expired or void
 * @throws {DomainError} STORAGE_FAULT
 */
export const findReset = async (
  token: string,
  { now = new Date() }: { now?: Date } = {},
): Promise<FoundReset | undefined> => {
  const id = idIn(token);
  if (id === undefined) return undefined;
  const [reset, item] = await getItems([resetKey(id), userKey(id)]);
  if (!reset || !item) return undefined;
  const { token_hash, token_expires_at = 0, user_state }: StoredReset = reset;
  const user = toStoredUser(item);
  const isCurrent =
    token_expires_at > seconds(now) && token_expires_at <= farthestEnd(seconds(now));
  const isGood = token_hash === digest(token) && isCurrent && user_state === stateOf(user);
  return isGood ? { user, tokenHash: token_hash } : undefined;
};

/**
 * In one transaction uses a token up, sets the password, and ends all sessions of the user and the
 * permission of whoever created the user.
 * @param forgotten the key of an item to delete in the same transaction
 * @returns false when the token is not valid any more
 * @throws {DomainError} STORAGE_FAULT
 */
export const useReset = async (
  { user, tokenHash }: FoundReset,
  password_hash: string,
  { forgotten, now = new Date() }: { forgotten?: ItemKey | undefined; now?: Date },
): Promise<boolean> => {
  const TableName = config.usersTable;
  const voiding = voidingReset(user.id, { now });
  const failed = await transact([
    {
      Update: {
        TableName,
        Key: userKey(user.id),
        ...endingSessions({
          UpdateExpression: 'SET password_hash = :fresh REMOVE made_by',
          ExpressionAttributeValues: {
            ':fresh': password_hash,
            ':hash': user.password_hash,
            ':email': user.email,
          },
        }),
        ConditionExpression: 'password_hash = :hash AND email = :email',
      },
    },
    {
      Update: {
        ...voiding,
        ConditionExpression:
          'token_hash = :hash AND token_expires_at > :now AND token_expires_at <= :farthest',
        ExpressionAttributeValues: {
          ...voiding.ExpressionAttributeValues,
          ':hash': tokenHash,
          ':now': seconds(now),
          ':farthest': farthestEnd(seconds(now)),
        },
      },
    },
    ...(forgotten ? [{ Delete: { TableName, Key: { pk: forgotten.pk } } }] : []),
  ]);
  return failed.length === 0;
};
