/** The steps that all ways to log in share, and how a refusal is counted and recorded. */
import { type Deed, record, recordFailure } from '../audit/record.ts';
import { DomainError, type ErrorCode } from '../ground/errors.ts';
import type { Source } from '../ground/source.ts';
import type { Tokens } from '../keys/token.ts';
import { tryToRemind } from '../options/mails/hand-over.ts';
import {
  type Counter,
  countAttempt,
  countersUnlessWaiting,
  forgetFailures,
  requireNoWait,
} from '../options/protection/counters.ts';
import { checkCode, useCode } from '../options/second-factor/factor.ts';
import { hasCodes } from '../options/second-factor/state.ts';
import { beginSession } from '../options/sessions/session-tokens.ts';
import type { FactorUsed } from '../options/sessions/sessions.ts';
import { mustVerify } from '../options/verified-addresses/address.ts';
import type { StoredUser } from '../users/item.ts';
import { isSuspended } from '../users/user.ts';

/** The refusal of a login that was checked; a login that must wait is refused before the check. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly error: DomainError;
  /** The reason in the audit entry. */
  readonly reason: string;
  /** The counters of the failure; none: the failure is not counted. */
  readonly counters: readonly Counter[];

  constructor(error: DomainError | ErrorCode, reason: string, counters: readonly Counter[] = []) {
    super();
    this.error = typeof error === 'string' ? new DomainError(error) : error;
    this.reason = reason;
    this.counters = counters;
  }
}

type Attempt = Deed & { readonly source: Source };

/** @param user who logs in; absent: not known */
export function attemptOf(source: Source, user?: StoredUser, details?: object): Attempt {
  return { source, action: 'LOGIN', by: user?.id, on: user?.id, details };
}

/**
 * Takes the steps of a login, and counts and records a refusal.
 * @throws {DomainError} the error of the refusal, or TOO_MANY_ATTEMPTS if other failures have started a wait meanwhile
 */
export async function countingRefusals<T>(attempt: Attempt, steps: () => Promise<T>): Promise<T> {
  try {
    return await steps();
  } catch (refusal) {
    if (!(refusal instanceof Refused)) throw refusal;
    const { error, reason, counters } = refusal;
    const { wait, ...begun } = await countAttempt(counters);
    await recordFailure(attempt, { ...attempt.details, reason, ...begun });
    requireNoWait(wait);
    throw error;
  }
}

/**
 * Requires that other requests have not reached a limit while the password was compared.
 * @returns the counters as read after the comparison, with the counter of the user if the user has a second factor
 */
export async function countersAfterPassword(
  user: StoredUser,
  source: Source,
): Promise<readonly Counter[]> {
  return refusing('too_many_attempts', () => countersUnlessWaiting(source, user));
}

/** Uses up the code of a user who has a second factor. @returns the factor of the session that begins */
export async function useSecondFactor(
  user: StoredUser,
  code: string | undefined,
  counters: readonly Counter[],
): Promise<FactorUsed | undefined> {
  if (!hasCodes(user)) return undefined;
  if (!code) throw new DomainError('LOGIN_CODE_REQUIRED');
  const wrong = new Refused('LOGIN_CODE_WRONG', 'wrong_code', counters);
  const proof = await checkCode(user, code);
  if (!proof) throw wrong;
  await useCode(user, proof, wrong);
  return 'code';
}

export function requireActive(user: StoredUser): void {
  if (isSuspended(user)) throw new Refused('ACCOUNT_SUSPENDED', 'suspended');
}

/** Refuses a user who must verify the address before a login, and mails another link for the verification. */
export async function remindAndRefuseUnverified(user: StoredUser, source: Source): Promise<void> {
  if (!mustVerify(user)) return;
  await tryToRemind(user, source);
  throw new Refused('EMAIL_NOT_VERIFIED', 'email_not_verified');
}

/**
 * Issues the tokens of a login, with a session where there are sessions. If signing fails (TOKEN_FAULT) or the session
 * cannot be stored (STORAGE_FAULT), the client gets no token.
 */
export function issueTokens(
  user: StoredUser,
  source: Source,
  factor?: FactorUsed,
): Promise<Tokens> {
  return refusing('no_token', () => beginSession(user, source, factor));
}

/** Records a successful login, deletes its failure counts, and reminds the user to verify the address. */
export async function conclude(
  attempt: Attempt,
  user: StoredUser,
  counters: readonly Counter[],
): Promise<void> {
  await Promise.all([
    record(attempt),
    forgetFailures(counters), // protection
    tryToRemind(user, attempt.source), // verified addresses
  ]);
}

/** Does a step of a login, and turns each of its errors into a refusal with a reason. */
async function refusing<T>(reason: string, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    throw error instanceof DomainError ? new Refused(error, reason) : error;
  }
}
