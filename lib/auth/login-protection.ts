/**
 * Counts what may be abused when repeated (failed logins, registrations) per account and per
 * source address, and makes who overdoes it wait: longer each time, never for good. Each count
 * is one conditional update; nobody is refused because the store of counts fails.
 */
import { createHash, createHmac } from 'node:crypto';
import { DeleteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { config } from '../config.ts';
import { conditionItem, isConditionFailure, send, storageTime } from '../dynamodb/client.ts';
import { DomainError } from '../errors.ts';
import { describeFault, logError } from '../log.ts';
import type { NoticeMessage } from '../mail/message.ts';
import { getItems } from '../users/items.ts';
import { emailKey } from '../users/user.ts';
import { networkOf } from './network.ts';
import { signingKeys } from './signing-secret.ts';

/** Seconds within which attempts add up. */
const window = 15 * 60;

/** Seconds to wait after the limit is reached; twice as long each further time, up to the most. */
const firstBackOff = 30;
const longestBackOff = 15 * 60;

/** Milliseconds that counting may delay a response. */
const countingTimeout = () => storageTime(1000);

/** What is counted, and how many attempts in a {@link window} are let through. */
export interface Counter {
  readonly pk: string;
  readonly limit: number;
  /** Of one account, whose successful login has it forgotten. */
  readonly ofAccount?: true;
}

/** Times are seconds since 1970. */
export interface Count {
  readonly occurrences: number;
  /** Absent until the limit was reached. */
  readonly blocked_until?: number;
  readonly expires_at: number;
}

/** A counter, and what it was seen to hold; undefined where nothing was counted, or not looked at. */
export interface SeenCounter extends Counter {
  readonly count: Count | undefined;
}

/** Counters with what was read under their keys, in their order. */
export const countsOf = (
  counters: readonly Counter[],
  items: readonly (object | undefined)[],
): readonly SeenCounter[] =>
  counters.map((counter, i) => ({ ...counter, count: items[i] as Count | undefined }));

/** Runs what only protects: its fault is logged, and fails no request. */
const withoutFault = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
  try {
    return await work();
  } catch (error) {
    logError('attempt-not-counted', describeFault(error));
    return undefined;
  }
};

const seconds = (date: Date) => Math.floor(date.getTime() / 1000);

/** The address that was typed is kept only as a keyed digest: people type passwords there. */
const accountCounter = async (email: string): Promise<Counter> => {
  const [{ keyObject }] = await signingKeys();
  const account = createHmac('sha256', keyObject).update(`login.v1:${emailKey(email)}`);
  const pk = `attempts#login#account#${account.digest('base64url')}`;
  return { pk, limit: config.loginFailuresPerAccount, ofAccount: true };
};

/** What of an account's failed logins is counted, to be forgotten; undefined where it cannot be told. */
export const failuresOf = (email: string): Promise<Counter | undefined> =>
  withoutFault(() => accountCounter(email));

/** The counters of a login, without those that are switched off or cannot be told. */
export const loginCounters = async (email: string, sourceIp: string): Promise<Counter[]> => {
  const ofAccount = await withoutFault(() => accountCounter(email));
  const pk = `attempts#login#address#${networkOf(sourceIp)}`;
  const ofAddress = { pk, limit: config.loginFailuresPerAddress };
  return [...(ofAccount ? [ofAccount] : []), ofAddress].filter(({ limit }) => limit > 0);
};

/** Seconds by which the clocks of functions differ at most. */
const clockSkew = 60;

/** No count lasts longer: one that seems to was made before the clock was set back. */
const longestLife = longestBackOff + window + clockSkew;

const isLive = (count: Count | undefined, now: number): count is Count =>
  count !== undefined && count.expires_at > now && count.expires_at <= now + longestLife;

/** Seconds that remain to wait; 0 when there is nothing to wait for. */
const waitOf = (count: Count | undefined, now: Date): number =>
  isLive(count, seconds(now))
    ? Math.min(longestBackOff, Math.max(0, (count.blocked_until ?? 0) - seconds(now)))
    : 0;

const requireNone = (waits: readonly number[]): void => {
  const wait = Math.max(0, ...waits);
  if (wait > 0) throw new DomainError('TOO_MANY_ATTEMPTS', { retryAfter: wait });
};

/** @throws {DomainError} TOO_MANY_ATTEMPTS while any of the counters demands a wait */
export const requireNoWait = (
  seen: readonly SeenCounter[],
  { now = new Date() }: { now?: Date } = {},
): void => requireNone(seen.map(({ count }) => waitOf(count, now)));

const backOff = (occurrences: number, limit: number): number =>
  Math.min(firstBackOff * 2 ** Math.min(occurrences - limit, 16), longestBackOff);

const live = '(expires_at > :now AND expires_at <= :farthest)';
const expired = '(attribute_not_exists(pk) OR expires_at <= :now OR expires_at > :farthest)';
const notBlocked = '(attribute_not_exists(blocked_until) OR blocked_until <= :now)';

/** The update that counts one more occurrence, provided the count is still as it was seen. */
const increment = (count: Count | undefined, limit: number, now: number) => {
  const seen = isLive(count, now) ? count.occurrences : undefined;
  const next = (seen ?? 0) + 1;
  const times = { ':now': now, ':farthest': now + longestLife };
  if (next >= limit) {
    const blockedUntil = now + backOff(next, limit);
    return {
      UpdateExpression: 'SET occurrences = :next, blocked_until = :blocked, expires_at = :expires',
      ConditionExpression:
        seen === undefined ? expired : `${live} AND occurrences = :seen AND ${notBlocked}`,
      ExpressionAttributeValues: {
        ...times,
        ':next': next,
        ':blocked': blockedUntil,
        ':expires': blockedUntil + window,
        ...(seen === undefined ? {} : { ':seen': seen }),
      },
    };
  }
  return seen === undefined
    ? {
        UpdateExpression: 'SET occurrences = :one, expires_at = :expires REMOVE blocked_until',
        ConditionExpression: expired,
        ExpressionAttributeValues: { ...times, ':one': 1, ':expires': now + window },
      }
    : {
        UpdateExpression: 'SET occurrences = occurrences + :one',
        ConditionExpression: `${live} AND occurrences < :last AND ${notBlocked}`,
        ExpressionAttributeValues: { ...times, ':one': 1, ':last': limit - 1 },
      };
};

/**
 * Between what was seen and now, a count may have gone on from starting to counting to waiting, or
 * been forgotten. Who has still not counted after this many rounds must wait: a guess that is not
 * counted is not answered.
 */
const maxRounds = 8;

/** Counts an attempt. @returns seconds to wait; 0 when it was counted */
const countOne = async ({ pk, limit, count: seen }: SeenCounter, now: Date): Promise<number> => {
  let count = seen;
  for (let round = 0; round < maxRounds; round += 1) {
    const wait = waitOf(count, now);
    if (wait > 0) return wait;
    const command = new UpdateCommand({
      TableName: config.usersTable,
      Key: { pk },
      ...increment(count, limit, seconds(now)),
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
    try {
      await send(command, { timeout: countingTimeout() });
      return 0;
    } catch (error) {
      if (!isConditionFailure(error)) throw error;
      count = conditionItem<Count>(error);
    }
  }
  return Math.max(1, waitOf(count, now));
};

/**
 * Counts one attempt.
 * @param seen the counters of the attempt, with what was read of them before
 * @throws {DomainError} TOO_MANY_ATTEMPTS when others have meanwhile used up a limit
 */
export const countAttempt = async (
  seen: readonly SeenCounter[],
  { now = new Date() }: { now?: Date } = {},
): Promise<void> => {
  const waits = await Promise.all(
    seen.map((counter) => withoutFault(() => countOne(counter, now))),
  );
  requireNone(waits.map((wait = 0) => wait));
};

/** Counts one occurrence. @returns whether it is one too many; not when that cannot be told */
const exceeds = async (pk: string, limit: number, now: Date): Promise<boolean> => {
  const wait = await withoutFault(() => countOne({ pk, limit, count: undefined }, now));
  return wait !== undefined && wait > 0;
};

/** Requests for a mail from one source address within a {@link window}. */
const resetsPerAddress = 20;

/**
 * Counts a request for a password reset, unless source addresses are not the clients' own, which
 * LOGIN_FAILURES_PER_ADDRESS=0 says.
 * @returns whether it is one too many
 */
export const exceedsResetLimit = async (
  sourceIp: string,
  { now = new Date() }: { now?: Date } = {},
): Promise<boolean> =>
  config.loginFailuresPerAddress > 0 &&
  (await exceeds(`attempts#reset#address#${networkOf(sourceIp)}`, resetsPerAddress, now));

/** Mails of one kind to one address within a {@link window}, whoever has it in between. */
const noticesPerAddress = 10;

/** The same of one account within an hour, whatever its addresses. */
const noticesPerUser = 10;
const hour = 60 * 60;

/** Counts a message of a user in this hour, once however often it comes. @returns false past the limit */
const countNotice = async (
  { user_id, request_id }: Pick<NoticeMessage, 'user_id' | 'request_id'>,
  now: number,
): Promise<boolean> => {
  const command = new UpdateCommand({
    TableName: config.usersTable,
    Key: { pk: `attempts#notice#user#${user_id}#${Math.floor(now / hour)}` },
    UpdateExpression: 'SET expires_at = :end ADD requests :requests',
    ConditionExpression:
      'attribute_not_exists(requests) OR size(requests) < :limit OR contains(requests, :request)',
    ExpressionAttributeValues: {
      ...{ ':requests': new Set([request_id]), ':request': request_id },
      ...{ ':limit': noticesPerUser, ':end': now + hour },
    },
  });
  try {
    await send(command, { timeout: countingTimeout() });
    return true;
  } catch (error) {
    if (!isConditionFailure(error)) throw error;
    return false;
  }
};

/**
 * Counts a mail that nobody asked for: who changes an account to and fro has others mailed.
 * @returns whether it is one too many for its account, or for the address
 */
export const exceedsNoticeLimit = async (
  message: Pick<NoticeMessage, 'email' | 'user_id' | 'request_id'>,
  { now = new Date() }: { now?: Date } = {},
): Promise<boolean> => {
  if ((await withoutFault(() => countNotice(message, seconds(now)))) === false) return true;
  const address = createHash('sha256').update(emailKey(message.email)).digest('base64url');
  return exceeds(`attempts#notice#account#${address}`, noticesPerAddress, now);
};

/**
 * Counts a registration, where registrations are limited, as they are not by default.
 * @throws {DomainError} TOO_MANY_ATTEMPTS
 */
export const countRegistration = async (
  sourceIp: string,
  times: { now?: Date } = {},
): Promise<void> => {
  const limit = config.registrationsPerAddress;
  const pk = `attempts#register#address#${networkOf(sourceIp)}`;
  if (limit > 0) await countAttempt([{ pk, limit, count: undefined }], times);
};

/**
 * Reads counters, before a password is checked and again after: others may have used up a limit
 * meanwhile.
 * @returns what they hold now; nothing when they cannot be read
 * @throws {DomainError} TOO_MANY_ATTEMPTS
 */
export const requireNoWaitNow = async (
  counters: readonly Counter[],
): Promise<readonly SeenCounter[]> => {
  if (counters.length === 0) return [];
  const items = await withoutFault(() => getItems(counters, { timeout: countingTimeout() }));
  const seen = countsOf(counters, items ?? []);
  requireNoWait(seen);
  return seen;
};

/** Deletes a count, unless it has reached its limit since. */
const forget = async ({ pk }: Counter, now: Date): Promise<void> => {
  const command = new DeleteCommand({
    TableName: config.usersTable,
    Key: { pk },
    ConditionExpression: notBlocked,
    ExpressionAttributeValues: { ':now': seconds(now) },
  });
  try {
    await send(command, { timeout: countingTimeout() });
  } catch (error) {
    if (!isConditionFailure(error)) throw error;
  }
};

/** Forgets an account's failed logins after a successful one, if there were any. */
export const forgetFailures = async (
  seen: readonly SeenCounter[],
  { now = new Date() }: { now?: Date } = {},
): Promise<void> => {
  const counted = seen.find(({ ofAccount, count }) => ofAccount && count);
  if (counted) await withoutFault(() => forget(counted, now));
};
