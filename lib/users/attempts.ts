/**
 * Counts what may be abused when repeated (failed logins, registrations) per account and per
 * source address, and makes who overdoes it wait: longer each time, never for good. Each count
 * is one conditional update; nobody is refused because a count could not be read or written.
 */
import { createHmac } from 'node:crypto';
import { DeleteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { config } from '../config.ts';
import { conditionItem, isConditionFailure, send, storageTime } from '../dynamodb/client.ts';
import { DomainError } from '../errors.ts';
import { describeFault, logError } from '../log.ts';
import { signingKeys } from '../tokens/signing-secret.ts';
import { networkOf } from './network.ts';
import { emailKey } from './user.ts';

/** Seconds within which occurrences add up. */
const window = 15 * 60;

/** Seconds to wait after the limit is reached; twice as long each further time, up to the most. */
const firstBackOff = 30;
const longestBackOff = 15 * 60;

/** Milliseconds that counting may take: an answer does not wait for it any longer. */
const countingTimeout = storageTime(1000);

/** What is counted, and how many occurrences in a {@link window} are nobody's business. */
export interface Counter {
  readonly pk: string;
  readonly limit: number;
}

/** Times are seconds since 1970. */
export interface Count {
  readonly occurrences: number;
  /** Absent until the limit was reached. */
  readonly blocked_until?: number;
  readonly expires_at: number;
}

/** Runs what only protects: its fault is logged and costs nobody the answer. */
const failingOpen = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
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
  const [key] = await signingKeys();
  const account = createHmac('sha256', key).update(`login.v1:${emailKey(email)}`);
  const pk = `attempts#login#account#${account.digest('base64url')}`;
  return { pk, limit: config.loginFailuresPerAccount };
};

/** The counters of a login, without those that are switched off or cannot be told. */
export const loginCounters = async (email: string, sourceIp: string): Promise<Counter[]> => {
  const ofAccount = await failingOpen(() => accountCounter(email));
  const pk = `attempts#login#address#${networkOf(sourceIp)}`;
  const ofAddress = { pk, limit: config.loginFailuresPerAddress };
  return [...(ofAccount ? [ofAccount] : []), ofAddress].filter(({ limit }) => limit > 0);
};

/** The counter of registrations, or none where it is switched off, as it is by default. */
export const registrationCounters = (sourceIp: string): Counter[] => {
  const limit = config.registrationsPerAddress;
  return limit > 0 ? [{ pk: `attempts#register#address#${networkOf(sourceIp)}`, limit }] : [];
};

const isLive = (count: Count | undefined, now: number): count is Count =>
  count !== undefined && count.expires_at > now;

/** Seconds that remain to wait; 0 when there is nothing to wait for. */
const waitOf = (count: Count | undefined, now: Date): number =>
  isLive(count, seconds(now)) ? Math.max(0, (count.blocked_until ?? 0) - seconds(now)) : 0;

/** @throws {DomainError} TOO_MANY_ATTEMPTS while any of the counts demands a wait */
export const requireNoWait = (
  counts: readonly (Count | undefined)[],
  { now = new Date() }: { now?: Date } = {},
): void => {
  const wait = Math.max(0, ...counts.map((count) => waitOf(count, now)));
  if (wait > 0) throw new DomainError('TOO_MANY_ATTEMPTS', { retryAfter: wait });
};

const backOff = (occurrences: number, limit: number): number =>
  Math.min(firstBackOff * 2 ** Math.min(occurrences - limit, 16), longestBackOff);

const live = 'expires_at > :now';
const notBlocked = '(attribute_not_exists(blocked_until) OR blocked_until <= :now)';

/** The update that counts one more occurrence, provided the count is still as it was seen. */
const increment = (count: Count | undefined, limit: number, now: number) => {
  const expired = !isLive(count, now);
  const next = expired ? 1 : count.occurrences + 1;
  if (next >= limit) {
    const blockedUntil = now + backOff(next, limit);
    return {
      UpdateExpression: 'SET occurrences = :next, blocked_until = :blocked, expires_at = :expires',
      ConditionExpression: expired
        ? 'attribute_not_exists(pk) OR expires_at <= :now'
        : `${live} AND occurrences = :seen AND ${notBlocked}`,
      ExpressionAttributeValues: {
        ':now': now,
        ':next': next,
        ':blocked': blockedUntil,
        ':expires': blockedUntil + window,
        ...(expired ? {} : { ':seen': count.occurrences }),
      },
    };
  }
  return expired
    ? {
        UpdateExpression: 'SET occurrences = :one, expires_at = :expires REMOVE blocked_until',
        ConditionExpression: 'attribute_not_exists(pk) OR expires_at <= :now',
        ExpressionAttributeValues: { ':now': now, ':one': 1, ':expires': now + window },
      }
    : {
        UpdateExpression: 'SET occurrences = occurrences + :one',
        ConditionExpression: `${live} AND occurrences < :last AND ${notBlocked}`,
        ExpressionAttributeValues: { ':now': now, ':one': 1, ':last': limit - 1 },
      };
};

/** Occurrences may pass from starting to counting to waiting between what was seen and now. */
const maxRounds = 4;

const countOne = async (
  { pk, limit }: Counter,
  seen: Count | undefined,
  now: Date,
): Promise<Count | undefined> => {
  let count = seen;
  for (let round = 0; round < maxRounds && waitOf(count, now) === 0; round += 1) {
    const command = new UpdateCommand({
      TableName: config.usersTable,
      Key: { pk },
      ...increment(count, limit, seconds(now)),
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
    try {
      await send(command, { timeout: countingTimeout });
      return undefined;
    } catch (error) {
      if (!isConditionFailure(error)) throw error;
      count = conditionItem<Count>(error);
    }
  }
  return count;
};

/**
 * Counts one occurrence.
 * @param seen the counts as they were read before, in the order of the counters, if they were
 * @throws {DomainError} TOO_MANY_ATTEMPTS when others have meanwhile used up the limit
 */
export const countAttempt = async (
  counters: readonly Counter[],
  seen: readonly (Count | undefined)[] = [],
  { now = new Date() }: { now?: Date } = {},
): Promise<void> => {
  const counts = await Promise.all(
    counters.map((counter, i) => failingOpen(() => countOne(counter, seen[i], now))),
  );
  requireNoWait(counts, { now });
};

/** Forgets an account's failed logins after a successful one, if there were any. */
export const forgetAttempts = async (
  counters: readonly Counter[],
  seen: readonly (Count | undefined)[],
): Promise<void> => {
  const ofAccount = counters.findIndex(({ pk }) => pk.startsWith('attempts#login#account#'));
  const counter = counters[ofAccount];
  if (!counter || !seen[ofAccount]) return;
  const command = new DeleteCommand({ TableName: config.usersTable, Key: { pk: counter.pk } });
  await failingOpen(() => send(command, { timeout: countingTimeout }));
};
