import { randomUUID } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import {
  conditionItem,
  isConditionFailure,
  retry,
  send,
  sendIf,
  storageTime,
} from '../dynamodb/client.ts';
import { DomainError } from '../errors.ts';
import { describeFault, logError } from '../log.ts';
import { config } from '../settings.ts';
import { seconds } from '../time.ts';
import { getItems } from '../users/items.ts';
import { type Count, increment, isUnmarkedWait, marking, waitOf, window } from './count.ts';

/** The eight groups of an IPv6 address, `::` filled in. */
const groups = (address: string): string[] => {
  const [head = '', tail] = address.split('::');
  const [before, after] = [head, tail ?? ''].map((part) => part.split(':').filter(Boolean));
  const missing = Math.max(0, 8 - (before?.length ?? 0) - (after?.length ?? 0));
  return [...(before ?? []), ...Array<string>(missing).fill('0'), ...(after ?? [])];
};

/**
 * The part of the address space that one party holds: an IPv4 address, or the /64 network of an
 * IPv6 address, because each customer of a provider has 2^64 of those.
 */
export const networkOf = (address: string): string => {
  if (!isIPv6(address) || address.includes('.')) return address;
  const prefix = groups(address).slice(0, 4);
  return `${prefix.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`;
};

// Attempts that could be abused are counted. Past a limit the caller must wait: longer each time,
// but never for good. Each count is one conditional update. No request fails because counting
// fails.

/** Milliseconds that counting may delay a response. */
export const countingTimeout = () => storageTime(1000);

/** A counter of attempts, and how many of them are allowed within 15 minutes. */
export interface Counter {
  readonly pk: string;
  readonly limit: number;
  /** Whether it counts for an account: a successful login then deletes the count. */
  readonly ofAccount?: true;
}

/** A counter, and its count as it was read; undefined if there is none, or if it was not read. */
export interface SeenCounter extends Counter {
  readonly count: Count | undefined;
}

/** Counters with the items that were read under their keys, in the same order. */
export const countsOf = (
  counters: readonly Counter[],
  items: readonly (object | undefined)[],
): readonly SeenCounter[] =>
  counters.map((counter, i) => ({ ...counter, count: items[i] as Count | undefined }));

/** Runs a protective measure. Its fault is logged, and the request goes on. */
export const logAndIgnoreErrors = async <T>(
  work: () => Promise<T>,
  event = 'attempt-not-counted',
): Promise<T | undefined> => {
  try {
    return await work();
  } catch (error) {
    logError(event, describeFault(error));
    return undefined;
  }
};

const requireNoWaits = (waits: readonly number[]): void => {
  const wait = Math.max(0, ...waits);
  if (wait > 0) throw new DomainError('TOO_MANY_ATTEMPTS', { retryAfter: wait });
};

/** @throws {DomainError} TOO_MANY_ATTEMPTS while any of the counters demands a wait */
export const requireNoWait = (
  seen: readonly SeenCounter[],
  { now = new Date() }: { now?: Date } = {},
): void => requireNoWaits(seen.map(({ count }) => waitOf(count, now)));

/** Marks a wait. @returns false when somebody else has marked it */
const markWait = (pk: string, count: Count): Promise<boolean> => {
  const command = new UpdateCommand({
    TableName: config.usersTable,
    Key: { pk },
    ...marking(count, randomUUID()),
  });
  return sendIf(command, { timeout: countingTimeout() });
};

/**
 * Marks the waits that refuse an attempt. Each wait is marked once, however many attempts it
 * refuses.
 * @returns the counters whose waits this attempt has marked
 */
export const markWaits = async (
  seen: readonly SeenCounter[],
  { now }: { now: Date },
): Promise<readonly Counter[]> => {
  const marked = seen.map(async ({ count, ...counter }) => {
    const isFirst =
      isUnmarkedWait(count, now) &&
      (await logAndIgnoreErrors(() => markWait(counter.pk, count), 'refusal-not-marked'));
    return isFirst ? [counter] : [];
  });
  return (await Promise.all(marked)).flat();
};

/**
 * Attempts at counting. Others may change or delete a count after it was read. An attempt that
 * could still not be counted must wait: no guess is checked that is not counted.
 */
const maxRounds = 8;

/** Counts an attempt by one counter. @returns seconds to wait; 0 when it was counted */
const countOne = async ({ pk, limit, count: seen }: SeenCounter, now: Date): Promise<number> => {
  let count = seen;
  const waitOrCount = async () => {
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
      return undefined;
    }
  };
  const wait = await retry(waitOrCount, { attempts: maxRounds });
  return wait ?? Math.max(1, waitOf(count, now));
};

/**
 * Counts an attempt by all of its counters.
 * @param seen the counters of the attempt, with what was read of them before
 * @throws {DomainError} TOO_MANY_ATTEMPTS when others have reached a limit meanwhile
 */
export const countAttempt = async (
  seen: readonly SeenCounter[],
  { now = new Date() }: { now?: Date } = {},
): Promise<void> => {
  const waits = await Promise.all(
    seen.map((counter) => logAndIgnoreErrors(() => countOne(counter, now))),
  );
  requireNoWaits(waits.map((wait = 0) => wait));
};

/**
 * Counts an attempt within a quarter of an hour of the clock. Nobody waits longer than until its end,
 * however often they try.
 * @returns whether it exceeds the limit; false when it could not be counted
 */
export const exceeds = async (pk: string, limit: number, now: Date): Promise<boolean> => {
  const quarter = Math.floor(seconds(now) / window);
  const command = new UpdateCommand({
    TableName: config.usersTable,
    Key: { pk: `${pk}#${quarter}` },
    UpdateExpression: 'SET expires_at = :end ADD occurrences :one',
    ConditionExpression: 'attribute_not_exists(pk) OR occurrences < :limit',
    ExpressionAttributeValues: { ':end': (quarter + 1) * window, ':one': 1, ':limit': limit },
  });
  const work = () => sendIf(command, { timeout: countingTimeout() });
  return (await logAndIgnoreErrors(work)) === false;
};

/**
 * Reads counters, and refuses while one demands a wait. Called before a password is checked and
 * again after it, because others may have reached a limit meanwhile.
 * @returns the counters with their counts, which are undefined if they cannot be read
 * @throws {DomainError} TOO_MANY_ATTEMPTS
 */
export const requireNoWaitNow = async (
  counters: readonly Counter[],
): Promise<readonly SeenCounter[]> => {
  if (counters.length === 0) return [];
  const items = await logAndIgnoreErrors(() => getItems(counters, { timeout: countingTimeout() }));
  const seen = countsOf(counters, items ?? []);
  requireNoWait(seen);
  return seen;
};

/**
 * Counts a registration where registrations are limited, which is off by default.
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
