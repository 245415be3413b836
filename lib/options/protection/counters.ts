/**
 * The counters of failed logins and of registrations (functions/README.md, Login protection). Each count is one
 * conditional update. Requests do not fail because a count fails, with one exception: a login fails if its first read
 * fails, because this read gets the counts together with the address ({@link readUnlessWaiting}).
 */
import { createHmac } from 'node:crypto';
import { DeleteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { conditionItem, isConditionFailure, send, sendIf } from '../../dynamodb/client.ts';
import { itemKey } from '../../dynamodb/tables.ts';
import { DomainError, type ErrorCode } from '../../ground/errors.ts';
import { loggingFaults } from '../../ground/log.ts';
import { config } from '../../ground/settings.ts';
import { networkOf, type Source } from '../../ground/source.ts';
import { longestDelay, seconds } from '../../ground/time.ts';
import { signingKeys } from '../../keys/signing-secret.ts';
import { emailKey, nobodysEmail } from '../../users/address.ts';
import { type Change, getItems, type ItemKey, type StoredUser } from '../../users/item.ts';
import { hasCodes } from '../second-factor/state.ts';

/** A count as it is stored. Times are seconds since 1970. */
interface Count {
  readonly attempts: number;
  /** Absent until the limit is reached. */
  readonly waits_until?: number;
  readonly expires_at: number;
}

/** A counter of attempts, with the number of attempts that are allowed within 15 minutes. */
export interface Counter {
  readonly pk: string;
  readonly limit: number;
  /** Whether the counter is for an account: then a successful login deletes the count. */
  readonly ofAccount?: true;
  /** The count as it was read; absent if there is no count, or if it was not read. */
  readonly count?: Count | undefined;
}

/**
 * Reads the counters of a login by an address together with other items, and refuses while a counter demands a wait.
 * @returns the counters, and the items in the order of their keys
 * @throws {DomainError} TOO_MANY_ATTEMPTS
 */
export async function readUnlessWaiting(
  email: string,
  { ip_address }: Source,
  keys: readonly ItemKey[],
) {
  const wanted = await loginCounters(email, ip_address);
  const read = await getItems([...keys, ...wanted]);
  const counters = withCounts(wanted, read.slice(keys.length));
  requireUnderLimit(counters);
  return { counters, items: read.slice(0, keys.length) };
}

/**
 * Reads the counters of failed logins, and throws while a counter demands a wait. This is done before and after each
 * check, because other attempts may reach a limit during the check.
 * @param user the user who logs in or confirms; absent: the user is not known, and only the counter of the source is
 *   read
 * @throws {DomainError} TOO_MANY_ATTEMPTS
 */
export async function countersUnlessWaiting(
  source: Source,
  user?: StoredUser,
): Promise<readonly Counter[]> {
  const counters = await readFailures(source, user);
  requireUnderLimit(counters);
  return counters;
}

/** Reads the counters of failed logins. If the counts cannot be read, the counters are returned without counts. */
export async function readFailures(
  { ip_address }: Source,
  user?: StoredUser,
): Promise<readonly Counter[]> {
  return readCounts(
    user
      ? await loginCounters(user.email, ip_address, user)
      : [sourceCounter(ip_address)].filter(isOn),
  );
}

/**
 * Checks a value that somebody may guess. Throws while a counter demands a wait, counts a wrong guess, and throws even
 * for a right guess if other attempts have reached a limit during the check.
 * @param user the user whose password or code is checked; absent: a wrong guess counts only for the source
 * @param check checks the guess; it returns undefined or false for a wrong guess
 * @throws {DomainError} the error, TOO_MANY_ATTEMPTS, and the errors of the check
 */
export async function countingGuesses<T>(
  source: Source,
  user: StoredUser | undefined,
  code: ErrorCode,
  check: () => Promise<T | false | undefined>,
): Promise<T> {
  const counters = await countersUnlessWaiting(source, user);
  const right = await check();
  if (right === undefined || right === false) {
    await countUnderLimit(counters);
    throw new DomainError(code);
  }
  await countersUnlessWaiting(source, user);
  return right;
}

/**
 * Uses up a code or nonce that was checked, and counts a wrong guess if another request has used it meanwhile.
 * @param use uses up the code or nonce; it throws the error that it gets if another request has used the code or nonce
 * @throws {DomainError} the same as {@link countingGuesses}
 */
export async function countingReuse<T>(
  source: Source,
  user: StoredUser | undefined,
  code: ErrorCode,
  use: (wrong: DomainError) => Promise<T>,
): Promise<T> {
  const wrong = new DomainError(code);
  try {
    return await use(wrong);
  } catch (error) {
    if (error === wrong) await countUnderLimit(await countersUnlessWaiting(source, user));
    throw error;
  }
}

/**
 * The enabled counters of a login. If the signing secret cannot be read, the counter of the account is missing.
 * @param user the user who logs in, if known: if the user has a second factor, the counter of the user is added
 */
export async function loginCounters(
  email: string,
  sourceIp: string,
  user?: StoredUser,
): Promise<Counter[]> {
  const ofAccount = await findAccountCounter(email);
  const ofUser = user && hasCodes(user) ? [userCounter(user)] : [];
  return [...(ofAccount ? [ofAccount] : []), sourceCounter(sourceIp), ...ofUser].filter(isOn);
}

const notCounted = 'attempt-not-counted';

/** Requires that no counter demands a wait, by the counts that were read. @throws {DomainError} TOO_MANY_ATTEMPTS */
export function requireUnderLimit(counters: readonly Counter[]): void {
  requireNoWait(...counters.map(({ count }) => waitOf(count, new Date())));
}

/** Requires that no wait remains. @param waits in seconds @throws {DomainError} TOO_MANY_ATTEMPTS */
export function requireNoWait(...waits: readonly number[]): void {
  const retryAfter = Math.max(0, ...waits);
  if (retryAfter > 0) throw new DomainError('TOO_MANY_ATTEMPTS', { retryAfter });
}

/** Seconds that remain to wait; 0 when there is no wait. */
export function waitOf(count: Count | undefined, now: Date): number {
  return Math.max(0, (count?.waits_until ?? 0) - seconds(now));
}

/** Reads the counts of counters. If they cannot be read, the counters are returned without counts. */
export async function readCounts(counters: readonly Counter[]): Promise<readonly Counter[]> {
  const read = () => getItems(counters, { timeout: longestDelay() });
  return withCounts(counters, (await loggingFaults(notCounted, read)) ?? []);
}

/**
 * Counts an attempt with all of its counters.
 * @param counters the counters of the attempt, with the counts that were read before
 * @returns the end of the wait that this attempt starts, in ISO 8601; and the seconds of the wait that other attempts
 *   have started meanwhile, 0 if there is no wait
 */
export async function countAttempt(counters: readonly Counter[], now = new Date()) {
  const counting = counters.map((counter) =>
    loggingFaults(notCounted, () => countOne(counter, now)),
  );
  const counted = (await Promise.all(counting)).flatMap((one) => one ?? []);
  const until = Math.max(0, ...counted.map(({ begins = 0 }) => begins));
  const begun = until > 0 ? { waits_until: new Date(until * 1000).toISOString() } : {};
  return { ...begun, wait: Math.max(0, ...counted.map(({ wait }) => wait)) };
}

/** Seconds within which attempts are added up. */
const window = 15 * 60;

/** Seconds of the first wait. Each further wait is twice as long, up to the longest wait. */
const firstWait = 30;
const longestWait = 15 * 60;

/** A count after one more attempt. The attempt that reaches the limit is still allowed; the next attempt must wait. */
export function countAfter(count: Count | undefined, limit: number, now: number): Count {
  const before =
    count && count.expires_at > now ? count : { attempts: 0, expires_at: now + window };
  const attempts = before.attempts + 1;
  if (attempts < limit) return { attempts, expires_at: before.expires_at };
  const waits_until = now + Math.min(firstWait * 2 ** (attempts - limit), longestWait);
  return { attempts, waits_until, expires_at: waits_until + window };
}

/** By default registrations are not limited. @throws {DomainError} TOO_MANY_ATTEMPTS */
export async function countRegistration(sourceIp: string, now?: Date): Promise<void> {
  const limit = config.registrationsPerAddress;
  if (limit === 0) return;
  const key = itemKey('attempts#register#*', 'address', networkOf(sourceIp));
  await countUnderLimit([{ ...key, limit }], now);
}

export async function forgetFailures(
  counters: readonly Counter[],
  now = new Date(),
): Promise<void> {
  const counted = counters.filter(({ ofAccount, count }) => ofAccount && count);
  await Promise.all(counted.map((each) => loggingFaults(notCounted, () => forget(each, now))));
}

/**
 * The change that deletes the count of a user's failed logins when the user resets the password. The count is not
 * deleted if whoever controls the mailbox would thus get further guesses at a code.
 */
export async function failuresForgotten(user: StoredUser): Promise<Change> {
  const counter = hasCodes(user) ? undefined : await findAccountCounter(user.email);
  if (!counter) return {};
  const Delete = { TableName: config.usersTable, Key: { pk: counter.pk } };
  return { steps: [[{ Delete }]] };
}

/** Counts an attempt. @throws {DomainError} TOO_MANY_ATTEMPTS if other attempts have reached a limit meanwhile */
async function countUnderLimit(counters: readonly Counter[], now?: Date): Promise<void> {
  const { wait } = await countAttempt(counters, now);
  requireNoWait(wait);
}

/** Undefined if nobody can have the address, or if the signing secret cannot be read. */
async function findAccountCounter(email: string): Promise<Counter | undefined> {
  if (email === nobodysEmail) return undefined;
  return loggingFaults(notCounted, () => accountCounter(email));
}

function sourceCounter(sourceIp: string): Counter {
  return {
    ...itemKey('attempts#login#*', 'address', networkOf(sourceIp)),
    limit: config.loginFailuresPerAddress,
  };
}

function isOn({ limit }: Counter): boolean {
  return limit > 0;
}

/** The email address is stored only as a keyed digest, because people mistakenly type passwords there. */
async function accountCounter(email: string): Promise<Counter> {
  const [{ keyObject }] = await signingKeys();
  const account = createHmac('sha256', keyObject).update(`login.v1:${emailKey(email)}`);
  const key = itemKey('attempts#login#*', 'account', account.digest('base64url'));
  return { ...key, limit: config.loginFailuresPerAccount, ofAccount: true };
}

/** The key does not have the address, because a change of the address must not allow further guesses at a code. */
function userCounter({ id }: StoredUser): Counter {
  return {
    ...itemKey('attempts#login#*', 'user', id),
    limit: config.loginFailuresPerAccount,
    ofAccount: true,
  };
}

/** The items were read under the keys of the counters, and are in the same order. */
function withCounts(
  counters: readonly Counter[],
  items: readonly (object | undefined)[],
): readonly Counter[] {
  return counters.map((counter, i) => ({ ...counter, count: items[i] as Count | undefined }));
}

/**
 * The most tries to count an attempt. A try fails if others change or delete a count after it was read. If the last try
 * fails too, the caller must wait, because no guess may be checked without being counted.
 */
const maxRounds = 8;

/**
 * @returns `wait`: the seconds of a wait that other attempts have started, 0 if there is no wait; `begins`: the end of
 *   the wait that this attempt starts
 */
async function countOne({ pk, limit, count: seen }: Counter, now: Date) {
  let count = seen;
  for (let round = 0; round < maxRounds; round += 1) {
    const wait = waitOf(count, now);
    if (wait > 0) return { wait };
    const next = countAfter(count, limit, seconds(now));
    const command = new UpdateCommand({
      TableName: config.usersTable,
      Key: { pk },
      ...increment(next, limit, seconds(now)),
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
    try {
      await send(command, { timeout: longestDelay() });
      return { wait: 0, begins: next.waits_until };
    } catch (error) {
      if (!isConditionFailure(error)) throw error;
      count = conditionItem<Count>(error);
    }
  }
  return { wait: Math.max(1, waitOf(count, now)) };
}

/**
 * The update that counts one more attempt. Its condition fails if others have reached the limit or, for the first
 * attempt and from the limit on, if others have changed the count.
 */
function increment({ attempts, waits_until, expires_at }: Count, limit: number, now: number) {
  if (attempts > 1 && !waits_until) {
    return {
      UpdateExpression: 'ADD attempts :one',
      ConditionExpression: 'attempts < :last AND expires_at > :now',
      ExpressionAttributeValues: { ':one': 1, ':last': limit - 1, ':now': now },
    };
  }
  const values = { ':attempts': attempts, ':end': expires_at };
  const [wait, ofWait] = waits_until
    ? [', waits_until = :until', { ':until': waits_until }]
    : [' REMOVE waits_until', {}];
  const [condition, ofCondition] =
    attempts > 1
      ? ['attempts = :seen', { ':seen': attempts - 1 }]
      : ['attribute_not_exists(pk) OR expires_at <= :now', { ':now': now }];
  return {
    UpdateExpression: `SET attempts = :attempts, expires_at = :end${wait}`,
    ConditionExpression: condition,
    ExpressionAttributeValues: { ...values, ...ofWait, ...ofCondition },
  };
}

function forget({ pk }: Counter, now: Date): Promise<boolean> {
  return sendIf(
    new DeleteCommand({
      TableName: config.usersTable,
      Key: { pk },
      ConditionExpression: 'attribute_not_exists(waits_until) OR waits_until <= :now',
      ExpressionAttributeValues: { ':now': seconds(now) },
    }),
    { timeout: longestDelay() },
  );
}
