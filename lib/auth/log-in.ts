import type { AuditedAction } from '../audit/entry.ts';
import { record } from '../audit/record.ts';
import { DomainError } from '../errors.ts';
import { loggingFaults } from '../log.ts';
import { remindToVerify } from '../mail/hand-over.ts';
import { checkCode, useCode } from '../second-factor/factor.ts';
import { config, hidesAccounts } from '../settings.ts';
import type { Source } from '../source.ts';
import { getItems, hasFactor, type StoredUser, wantedEmailKey } from '../users/items.ts';
import { hashPassword, matchesHash, needsRehash, unmatchableHash } from '../users/password.ts';
import { findHolder } from '../users/store.ts';
import { rewriteUser, writeUser } from '../users/write.ts';
import {
  type Counter,
  countAttempt,
  findWaitError,
  forgetFailures,
  loginCounters,
  readCounts,
  withCounts,
} from './counters.ts';
import { beginSession, type Tokens } from './session-tokens.ts';

/** What somebody sends to log in. */
interface Login {
  readonly email: string;
  readonly password: string;
  readonly code?: string | undefined;
}

/** The user of the address, if there is one, and the counters of the login. */
interface Found {
  readonly user: StoredUser | undefined;
  readonly counters: readonly Counter[];
}

/** Why a login is refused whose password or ID token was checked. */
export interface Refusal {
  readonly error: unknown;
  /** The reason in its audit entry; absent: it leaves none. */
  readonly reason?: string;
  /** The counters of the failure; absent: it is not counted. */
  readonly counters?: readonly Counter[];
}

interface Success {
  readonly user: StoredUser;
  readonly counters: readonly Counter[];
  readonly tokens: Tokens;
}

const find = async (email: string, { ip_address }: Source): Promise<Found> => {
  const counters = await loginCounters(email, ip_address);
  const [emailItem, ...counts] = await getItems([wantedEmailKey(email), ...counters]);
  return { user: await findHolder(email, emailItem), counters: withCounts(counters, counts) };
};

/** Whether nobody may log in as a user before the address is verified. */
const isUnverified = ({ email_verified }: StoredUser): boolean =>
  config.emailVerification === 'required' && !email_verified;

/** The user who logs in, or the reason why the login fails. */
const checkPassword = async (user: StoredUser | undefined, password: string) => {
  // Where responses must not reveal whether an account exists, their time must not either: a login
  // to an unknown account, or to one with a hash of a lower cost, takes as long as any other.
  const raisesWork = config.accounts === 'private';
  const hash = () => user?.password_hash ?? unmatchableHash();
  const matches = (user || raisesWork) && (await matchesHash(password, hash(), { raisesWork }));
  if (!user) return { reason: 'unknown_email' } as const;
  if (!matches) return { reason: 'wrong_password' } as const;
  // Whoever registers an address and logs in must not learn whether it was taken.
  const hides = hidesAccounts(config) && isUnverified(user);
  return hides ? ({ reason: 'email_not_verified' } as const) : { user };
};

const errorFor = (reason: string) =>
  new DomainError(
    reason === 'unknown_email' && config.accounts === 'open'
      ? 'USER_NOT_REGISTERED'
      : 'INVALID_CREDENTIALS',
  );

/** Why a user may not log in whose password and code are right. */
const refusalOf = async (user: StoredUser, source: Source): Promise<Refusal | undefined> => {
  if (user.suspended_at) {
    return { reason: 'suspended', error: new DomainError('ACCOUNT_SUSPENDED') };
  }
  if (!isUnverified(user)) return undefined;
  await remindToVerify(user, source);
  return { reason: 'email_not_verified', error: new DomainError('EMAIL_NOT_VERIFIED') };
};

/**
 * Decides the login of a user whose password or identity is right: the waits, the code, the address, and
 * the session.
 * @param last the last step before the session; returns why the login is refused, if it is
 */
export const admit = async (
  user: StoredUser,
  login: Pick<Login, 'email' | 'code'>,
  source: Source,
  last?: () => Promise<Refusal | undefined>,
): Promise<Refusal | Success> => {
  const { code } = login;
  const proof = code && hasFactor(user) && (await checkCode(user, code));
  const counters = await readCounts(await loginCounters(login.email, source.ip_address, user));
  const error = findWaitError(counters);
  if (error) return { reason: 'too_many_attempts', error };

  if (hasFactor(user) && !code) return { error: new DomainError('LOGIN_CODE_REQUIRED') };
  if (hasFactor(user) && !(proof && (await useCode(user, proof)))) {
    return { reason: 'wrong_code', error: new DomainError('LOGIN_CODE_WRONG'), counters };
  }
  const barred = (await refusalOf(user, source)) ?? (await last?.());
  if (barred) return barred;
  try {
    return { user, counters, tokens: await beginSession(user, source) };
  } catch (error) {
    return { reason: 'no_token', error };
  }
};

const decide = async (found: Found, login: Login, source: Source): Promise<Refusal | Success> => {
  const { user, reason } = await checkPassword(found.user, login.password);
  if (!user) return { reason, error: errorFor(reason), counters: found.counters };
  return admit(user, login, source);
};

/**
 * Replaces a hash of a lower cost by one at the current cost, which only a login can do, because it has
 * the password. Never throws: the login succeeds anyway, and the next one tries again.
 */
const rehash = async (user: StoredUser, password: string): Promise<void> => {
  await loggingFaults('hash-not-raised', async () => {
    if (!needsRehash(user.password_hash)) return;
    const password_hash = await hashPassword(password);
    const attempt = async (current: StoredUser) =>
      current.password_hash === user.password_hash
        ? writeUser(current, { password_hash }, { by: current.made_by })
        : null;
    await rewriteUser(user.id, attempt, user);
  });
};

type Attempt = Omit<AuditedAction, 'resource' | 'result' | 'details'> & { details?: object };

/** Counts and records a refusal, and throws its error, or that of a wait which other attempts have begun. */
export const refuse = async (attempt: Attempt, refusal: Refusal): Promise<never> => {
  const { reason, error, counters = [] } = refusal;
  const { waitError, ...begun } = await countAttempt(counters);
  const details = { ...attempt.details, reason, ...begun };
  if (reason) await record({ ...attempt, result: 'FAILURE', details });
  throw waitError ?? error;
};

/** Counts and records the outcome of a login, and mails a link to users who have not verified their address. */
export const conclude = async (
  attempt: Attempt,
  outcome: Refusal | Success,
  source: Source,
): Promise<Tokens> => {
  if ('error' in outcome) return refuse(attempt, outcome);
  await Promise.all([
    record({ ...attempt, result: 'SUCCESS' }),
    remindToVerify(outcome.user, source),
    forgetFailures(outcome.counters),
  ]);
  return outcome.tokens;
};

/**
 * Logs a user in, and leaves an audit entry. There is none where a wait refuses the login before its
 * password is checked, where only the code is missing, and where the store fails before there is a session
 * to be written.
 * @returns the tokens of the new session
 * @throws {DomainError} TOO_MANY_ATTEMPTS, USER_NOT_REGISTERED, INVALID_CREDENTIALS,
 *   LOGIN_CODE_REQUIRED, LOGIN_CODE_WRONG, ACCOUNT_SUSPENDED, EMAIL_NOT_VERIFIED,
 *   TOKEN_FAULT, STORAGE_FAULT
 */
export const logIn = async (login: Login, source: Source): Promise<Tokens> => {
  const found = await find(login.email, source);
  const error = findWaitError(found.counters);
  if (error) throw error;
  const outcome = await decide(found, login, source);
  const id = found.user?.id;
  const attempt = { ...source, action: 'LOGIN', user_id: id, resource_id: id } as const;
  const tokens = await conclude(attempt, outcome, source);
  if (found.user) await rehash(found.user, login.password);
  return tokens;
};
