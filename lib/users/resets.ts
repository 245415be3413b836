/**
 * The one link of a user that sets a new password (functions/README.md, Password reset). Its item
 * has a digest of the newest token, and what the mails are limited by.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { config } from '../config.ts';
import { isConditionFailure, send, transact } from '../dynamodb/client.ts';
import { namedError } from '../errors.ts';
import {
  getItem,
  getItems,
  type ItemKey,
  type StoredUser,
  toStoredUser,
  userKey,
} from './items.ts';
import { endingSessions } from './sessions.ts';
import { isUserId } from './user.ts';

/** Times are seconds since 1970. */
interface StoredReset {
  /** SHA-256 of the newest token; absent when it was used, or made void. */
  readonly token_hash?: string;
  readonly token_expires_at?: number;
  /** What the user must still be like. */
  readonly user_state?: string;
  /** The request that was mailed last, or is to be. */
  readonly request_id?: string;
  /** Another one each time that a request is taken up. */
  readonly claim?: string;
  /** Until when nobody else mails that request. */
  readonly claimed_until?: number;
  /** Whether nothing more is to be done for it. */
  readonly sent?: true;
  /** The requests of the last hour for which mails were made, and when. */
  readonly mailed?: readonly { readonly request_id: string; readonly at: number }[];
}

/** Seconds. */
const tokenLifetime = 30 * 60;
const minute = 60;
const hour = 60 * minute;

/** How long a request is being mailed at most: longer than the function that mails may run. */
const lease = 50;

/** Mails of an account in an hour. */
const mailsPerHour = 5;

const seconds = (date: Date) => Math.floor(date.getTime() / 1000);
const digest = (text: string) => createHash('sha256').update(text).digest('base64url');

const resetKey = (id: number): ItemKey => ({ pk: `reset#${id}` });

/** A token: the user's id, by which its item is found, and 32 random bytes. */
const makeToken = (id: number): string => `${id}.${randomBytes(32).toString('base64url')}`;

const tokenForm = /^([1-9]\d{0,15})\.[\w-]{43}$/;

/** Whose token a text claims to be. */
const idIn = (token: string): number | undefined => {
  const id = Number(tokenForm.exec(token)?.[1]);
  return isUserId(id) ? id : undefined;
};

/**
 * What a link is bound to: after a change of the password or the address, it is void. Of all of the
 * hash, the salt included, so that no password can be tried on it.
 */
const stateOf = ({ email, password_hash }: StoredUser): string =>
  digest(JSON.stringify([email, password_hash]));

/** What an update of a link's item writes of a new token, in which the limits of mails stay. */
const newToken = (user: StoredUser, token: string, now: number) => ({
  UpdateExpression:
    'SET token_hash = :hash, token_expires_at = :until, user_state = :state, expires_at = :end',
  ExpressionAttributeValues: {
    ':hash': digest(token),
    ':until': now + tokenLifetime,
    ':state': stateOf(user),
    ':end': now + hour,
  },
});

/** Makes a link of a user, which voids those of before. @throws {DomainError} STORAGE_FAULT */
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

/** Whether a request is being mailed; not by a time ahead, of a clock that was set back since. */
const isClaimed = ({ claimed_until = 0 }: StoredReset, now: number): boolean =>
  claimed_until > now && claimed_until <= now + lease + minute;

/**
 * The mails of the last hour with that of a request; undefined when it must not be mailed.
 * @throws {Error} MailUnderWay while it is
 */
const mailsWith = (item: StoredReset, requestId: string, now: number) => {
  const { request_id, sent, mailed = [] } = item;
  if (request_id === requestId) {
    if (!sent && isClaimed(item, now)) throw namedError('MailUnderWay');
    // A retry of a request whose mail was not sent is no further one.
    return sent ? undefined : mailed;
  }
  // One that comes again after a newer one: its link would void the newer one's.
  if (mailed.some((one) => one.request_id === requestId)) return undefined;
  // Times ahead are of a clock that was set back since.
  const recent = mailed.filter(({ at }) => at > now - hour && at <= now + minute);
  const isTooSoon = recent.length >= mailsPerHour || recent.some(({ at }) => at > now - minute);
  return isTooSoon ? undefined : [...recent, { request_id: requestId, at: now }];
};

/** @returns false when the condition does not hold */
const sendIf = async (command: UpdateCommand): Promise<boolean> => {
  try {
    await send(command);
    return true;
  } catch (error) {
    if (!isConditionFailure(error)) throw error;
    return false;
  }
};

/** Writes a token for a request, unless the item has been taken up since it was read. */
const claimMail = async (
  user: StoredUser,
  requestId: string,
  { claim, mails, now }: { claim: string | undefined; mails: StoredReset['mailed']; now: number },
): Promise<string | undefined> => {
  const token = makeToken(user.id);
  const { UpdateExpression, ExpressionAttributeValues } = newToken(user, token, now);
  const command = new UpdateCommand({
    TableName: config.usersTable,
    Key: resetKey(user.id),
    UpdateExpression: `${UpdateExpression}, request_id = :request, mailed = :mails, claim = :claim, claimed_until = :lease REMOVE sent`,
    ConditionExpression: claim === undefined ? 'attribute_not_exists(claim)' : 'claim = :seen',
    ExpressionAttributeValues: {
      ...ExpressionAttributeValues,
      ...{ ':request': requestId, ':mails': mails },
      ...{ ':claim': randomUUID(), ':lease': now + lease },
      ...(claim === undefined ? {} : { ':seen': claim }),
    },
  });
  return (await sendIf(command)) ? token : undefined;
};

/** Rounds in which others may take the account up first. */
const maxRounds = 3;

/**
 * Takes a request up: makes a link to be mailed for it, unless it was mailed already, a newer one was
 * taken up since, or the account has had a mail within a minute or five within an hour.
 * @returns undefined when there is nothing to mail
 * @throws {DomainError} STORAGE_FAULT
 * @throws {Error} MailUnderWay while another delivery of the request mails it: try again later
 */
export const makeMailedToken = async (
  user: StoredUser,
  requestId: string,
  { now = new Date() }: { now?: Date } = {},
): Promise<string | undefined> => {
  for (let round = 0; round < maxRounds; round += 1) {
    const item: StoredReset = (await getItem(resetKey(user.id))) ?? {};
    const mails = mailsWith(item, requestId, seconds(now));
    if (!mails) return undefined;
    const seen = { claim: item.claim, mails, now: seconds(now) };
    const token = await claimMail(user, requestId, seen);
    if (token) return token;
  }
  throw namedError('MailUnderWay');
};

const updateMail = async (
  { id }: StoredUser,
  ExpressionAttributeValues: Readonly<Record<string, unknown>>,
  expressions: { readonly UpdateExpression: string; readonly ConditionExpression: string },
): Promise<void> => {
  const item = { TableName: config.usersTable, Key: resetKey(id) };
  await sendIf(new UpdateCommand({ ...item, ...expressions, ExpressionAttributeValues }));
};

/** Keeps in mind that nothing more is to be done for a request. @throws {DomainError} STORAGE_FAULT */
export const markMailed = (user: StoredUser, requestId: string): Promise<void> =>
  updateMail(
    user,
    { ':true': true, ':request': requestId },
    { UpdateExpression: 'SET sent = :true', ConditionExpression: 'request_id = :request' },
  );

/** Has a request that could not be mailed taken up again at once. @throws {DomainError} STORAGE_FAULT */
export const releaseMail = (user: StoredUser, requestId: string): Promise<void> =>
  updateMail(
    user,
    { ':request': requestId },
    { UpdateExpression: 'REMOVE claimed_until', ConditionExpression: 'request_id = :request' },
  );

/** A token that is good, and its user as read with it. */
export interface FoundReset {
  readonly user: StoredUser;
  readonly tokenHash: string;
}

/**
 * Finds what a token is for.
 * @returns undefined for one that is unknown, altered, used, expired or void
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
  const isGood =
    token_hash === digest(token) && token_expires_at > seconds(now) && user_state === stateOf(user);
  return isGood ? { user, tokenHash: token_hash } : undefined;
};

/** What takes the link of a user from it; for a transaction. */
export const voidingReset = (id: number, { now = new Date() }: { now?: Date } = {}) => ({
  TableName: config.usersTable,
  Key: resetKey(id),
  UpdateExpression:
    'SET expires_at = if_not_exists(expires_at, :end) REMOVE token_hash, token_expires_at, user_state',
  ExpressionAttributeValues: { ':end': seconds(now) + hour },
});

/**
 * Takes a token, sets the password and ends all sessions of the user, all of it or nothing.
 * @param forgotten the key of an item to delete with it
 * @returns false when the token is good no more
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
          UpdateExpression: 'SET password_hash = :fresh',
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
        ConditionExpression: 'token_hash = :hash AND token_expires_at > :now',
        ExpressionAttributeValues: {
          ...voiding.ExpressionAttributeValues,
          ':hash': tokenHash,
          ':now': seconds(now),
        },
      },
    },
    ...(forgotten ? [{ Delete: { TableName, Key: { pk: forgotten.pk } } }] : []),
  ]);
  return failed.length === 0;
};
