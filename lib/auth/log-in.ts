import type { AuditedAction } from '../audit/entry.ts';
import { record } from '../audit/record.ts';
import { DomainError } from '../errors.ts';
import {
  countAttempt,
  countsOf,
  markWaits,
  requireNoWait,
  requireNoWaitNow,
  type SeenCounter,
} from '../limits/counters.ts';
import { remindToVerify } from '../mail/hand-over.ts';
import { type Code, readCode } from '../second-factor/codes.ts';
import { checkCode, type Proof, useCode } from '../second-factor/factor.ts';
import { config, hidesAccounts } from '../settings.ts';
import type { Source } from '../source.ts';
import { hasFactor, type StoredUser } from '../users/items.ts';
import { unmatchableHash, verifyPassword } from '../users/password.ts';
import { findUserByEmail, refreshHash } from '../users/store.ts';
import { forgetFailures, loginCounters } from './login-protection.ts';
import { beginSession, type Tokens } from './new-session.ts';

type SeenCounters = readonly SeenCounter[];

/** Whether nobody may log in as a user before the address is verified. */
const isUnverified = ({ email_verified }: StoredUser): boolean =>
  config.emailVerification === 'required' && !email_verified;

/** The user who logs in, or the reason why the login fails. */
const checkPassword = async (user: StoredUser | undefined, password: string) => {
  const known = user !== undefined;
  // Where responses must not reveal whether an account exists, their time must not either: a login
  // to an unknown account, or to one with a hash of a lower cost, takes as long as any other.
  const raisesWork = config.loginAnswers === 'uniform';
  const hash = () => user?.password_hash ?? unmatchableHash();
  const matches = (known || raisesWork) && (await verifyPassword(password, hash(), { raisesWork }));
  if (!known) return { reason: 'unknown_email' } as const;
  if (!matches) return { reason: 'wrong_password' } as const;
  // Whoever registers an address and logs in must not learn whether it was taken.
  const hides = hidesAccounts(config) && isUnverified(user);
  return hides ? ({ reason: 'email_not_verified' } as const) : { user };
};

const errorFor = (reason: string) =>
  new DomainError(
    reason === 'unknown_email' && config.loginAnswers === 'distinct'
      ? 'USER_NOT_REGISTERED'
      : 'INVALID_CREDENTIALS',
  );

/** The fields by which the entry of a failure differs. */
const failure = (reason: string) => ({ result: 'FAILURE', details: { reason } }) as const;

/** Records the first login that a wait refuses. Later ones write nothing, however many come. */
const recordFirstRefusals = async (
  attempt: Omit<AuditedAction, 'resource' | 'result'>,
  seen: SeenCounters,
  now: Date,
): Promise<void> => {
  const first = await markWaits(seen, { now });
  const nobody = { user_id: undefined, resource_id: undefined };
  await Promise.all(
    first.map(({ ofAccount }) =>
      record({ ...attempt, ...(ofAccount ? {} : nobody), ...failure('too_many_attempts') }),
    ),
  );
};

/** A right code of a user who has a second factor; it is not used up yet. */
const proofOf = async (user: StoredUser, code: Code | undefined): Promise<Proof | undefined> =>
  code && hasFactor(user) ? checkCode(user, code) : undefined;

/** Requires a verified address where the setting does; the link is mailed again. */
const requireVerified = async (user: StoredUser, source: Source): Promise<void> => {
  if (!isUnverified(user)) return;
  await remindToVerify(user, source);
  throw new DomainError('EMAIL_NOT_VERIFIED');
};

/** What somebody sends to log in; the code may be anything. */
interface Login {
  readonly email: string;
  readonly password: string;
  readonly code?: unknown;
}

/**
 * Logs a user in. Leaves an audit entry, except for a missing code, for most faults of the store, and
 * for refusals after the first one in a wait.
 * @returns the tokens of the new session
 * @throws {DomainError} TOO_MANY_ATTEMPTS, USER_NOT_REGISTERED, INVALID_CREDENTIALS,
 *   LOGIN_CODE_REQUIRED, LOGIN_CODE_WRONG, EMAIL_NOT_VERIFIED, TOKEN_FAULT, STORAGE_FAULT
 */
export const logIn = async (
  { email, password, ...given }: Login,
  source: Source,
): Promise<Tokens> => {
  const counters = await loginCounters(email, source.ip_address);
  const { user: found, items } = await findUserByEmail(email, { alongside: counters });
  const seen = countsOf(counters, items);
  const attempt = {
    ...source,
    action: 'LOGIN',
    user_id: found?.id,
    resource_id: found?.id,
  } as const;
  const now = new Date();
  await recordFirstRefusals(attempt, seen, now);
  requireNoWait(seen, { now });

  const recordFailure = (reason: string) => record({ ...attempt, ...failure(reason) });
  const recordAndThrow = (reason: string) => async (error: unknown) => {
    await recordFailure(reason);
    throw error;
  };
  const countAndThrow = async (reason: string, counts: SeenCounters, error: DomainError) => {
    // The response waits for the entry, because Lambda freezes a function after it.
    const [, counted] = await Promise.allSettled([recordFailure(reason), countAttempt(counts)]);
    throw counted.status === 'rejected' ? counted.reason : error;
  };

  const { user, reason } = await checkPassword(found, password);
  if (!user) return countAndThrow(reason, seen, errorFor(reason));
  const code = readCode(given.code);
  const proof = await proofOf(user, code);
  const all = await loginCounters(email, source.ip_address, user);
  const seenByNow = await requireNoWaitNow(all).catch(recordAndThrow('too_many_attempts'));
  if (hasFactor(user)) {
    if (!code) throw new DomainError('LOGIN_CODE_REQUIRED');
    const isUsed = proof && (await useCode(user.id, proof));
    if (!isUsed) return countAndThrow('wrong_code', seenByNow, new DomainError('LOGIN_CODE_WRONG'));
  }
  await requireVerified(user, source).catch(recordAndThrow('email_not_verified'));
  const tokens = await beginSession(user, source).catch(recordAndThrow('no_token'));
  await Promise.all([
    record({ ...attempt, result: 'SUCCESS' }),
    remindToVerify(user, source),
    forgetFailures(seenByNow),
    refreshHash(user, password),
  ]);
  return tokens;
};
