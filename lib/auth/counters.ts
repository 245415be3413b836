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
import { type Count, increment, isUnmarkedWait, marking, waitOf } from './count.ts';

/** The eight groups of an IPv6 address, `::` filled in. */
const groups = (address: string): string[] => {
  const [head = '', tail] = address.split('::');
  const [before, after] = [head, tail ?? ''].map((part) => part.split(':').filter(Boolean));
  const missing = Math.max(0, 8 - (before?.length ?? 0) - (after?.length ?? 0));
  return [...(before ?? []), ...Array<string>(missing).fill('0'), ...(after ?? [])];
};

/**
 * What one party holds of the address space: an IPv4 address, or the /64 of an IPv6 address, of
 * which any customer of any provider has 2^64.
 */
export const networkOf = (address: string): string => {
  if (!isIPv6(address) || address.includes('.')) return address;
  const prefix = groups(address).slice(0, 4);
  return `${prefix.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`;
};

// * Counts what may be abused when repeated, and makes who overdoes it wait: longer each time, never
// for good. Each count is one conditional update; nobody is refused because the store of counts
// fails.

/** Milliseconds that counting may delay a response. */
export const countingTimeout = () => storageTime(1000);

/** What is counted, and how many attempts within 15 minutes are let through. */
export interface Counter {
  readonly pk: string;
  readonly limit: number;
  /** Of one account, whose successful login has it forgotten. */
  readonly ofAccount?: true;
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

const requireNone = (waits: readonly number[]): void => {
  const wait = Math.max(0, ...waits);
  if (wait > 0) throw new DomainError('TOO_MANY_ATTEMPTS', { retryAfter: wait });
};

/** @throws {DomainError} TOO_MANY_ATTEMPTS while any of the counters demands a wait */
export const requireNoWait = (
  seen: readonly SeenCounter[],
  { now = new Date() }: { now?: Date } = {},
): void => requireNone(seen.map(({ count }) => waitOf(count, now)));

/** Marks a wait. @returns whether nobody else has */
const markWait = (pk: string, count: Count): Promise<boolean> => {
  const command = new UpdateCommand({
    TableName: config.usersTable,
    Key: { pk },
    ...marking(count, randomUUID()),
  });
  return sendIf(command, { timeout: countingTimeout() });
};

/**
 * Marks the waits that refuse an attempt. Each wait is marked once, however many attempts it refuses.
 * @returns the counters whose waits refuse this attempt first; without those that cannot be marked
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
 * Between what was seen and now, a count may have gone on from starting to counting to waiting, or
 * been forgotten. Who has still not counted after this many rounds must wait: a guess that is not
 * counted is not answered.
 */
const maxRounds = 8;

/** Counts an attempt. @returns seconds to wait; 0 when it was counted */
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
 * Counts one attempt.
 * @param seen the counters of the attempt, with what was read of them before
 * @throws {DomainError} TOO_MANY_ATTEMPTS when others have meanwhile used up a limit
 */
export const countAttempt = async (
  seen: readonly SeenCounter[],
  { now = new Date() }: { now?: Date } = {},
): Promise<void> => {
  const waits = await Promise.all(
    seen.map((counter) => logAndIgnoreErrors(() => countOne(counter, now))),
  );
  requireNone(waits.map((wait = 0) => wait));
};

/** Counts one occurrence. @returns whether it is one too many; not when that cannot be told */
export const exceeds = async (pk: string, limit: number, now: Date): Promise<boolean> => {
  const wait = await logAndIgnoreErrors(() => countOne({ pk, limit, count: undefined }, now));
  return wait !== undefined && wait > 0;
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
  const items = await logAndIgnoreErrors(() => getItems(counters, { timeout: countingTimeout() }));
  const seen = countsOf(counters, items ?? []);
  requireNoWait(seen);
  return seen;
};
