/** How users log in, and register, by an ID token of another issuer (functions/README.md, Identities). */
import { DomainError, type ErrorCode } from '../ground/errors.ts';
import type { Source } from '../ground/source.ts';
import { useNonce } from '../keys/nonce.ts';
import type { Tokens } from '../keys/token.ts';
import { type TokenAndNonce, type Vouched, verifyIdToken } from '../options/identities/id-token.ts';
import { findUserByIdentity } from '../options/identities/identities.ts';
import { loginCounters, requireNoWait, sourceCounters } from '../options/protection/counters.ts';
import type { StoredUser } from '../users/item.ts';
import {
  attemptOf,
  conclude,
  issueTokens,
  Refused,
  recordingRefusals,
  requireActive,
  requireCode,
  requireVerifiedAddress,
} from './login-steps.ts';
import { registerByIdentity } from './register.ts';

/** The fields of a request to log in: the name is for a new user. */
interface IdentityLogin extends TokenAndNonce {
  readonly name?: string | undefined;
  readonly code?: string | undefined;
}

/** The tokens of a new session, and whether the user is new. */
interface Outcome {
  readonly tokens: Tokens;
  readonly isNew: boolean;
}

/**
 * Logs in the user to whom an identity is linked, or registers one for it.
 * @throws {DomainError} TOO_MANY_ATTEMPTS, IDENTITY_TOKEN_INVALID, IDENTITY_PROVIDER_FAULT,
 *   EMAIL_NOT_VERIFIED, FIELD_INVALID, EMAIL_REGISTERED, LOGIN_CODE_REQUIRED, LOGIN_CODE_WRONG, ACCOUNT_SUSPENDED,
 *   TOKEN_FAULT, STORAGE_FAULT
 */
export async function logInByIdentity(login: IdentityLogin, source: Source): Promise<Outcome> {
  await requireNoWait(sourceCounters(source.ip_address)); // protection
  return recordingRefusals(attemptOf(source), async () => {
    const vouched = await verifyIdToken(login);
    if (!vouched) throw invalidToken(source);
    const user = await findUserByIdentity(vouched);
    if (user) return logInLinked(user, login, vouched, source);
    return register(login, vouched, source);
  });
}

function invalidToken({ ip_address }: Source): Refused {
  const counters = sourceCounters(ip_address);
  return new Refused('IDENTITY_TOKEN_INVALID', 'invalid_identity_token', counters);
}

async function logInLinked(
  user: StoredUser,
  { code, nonce }: IdentityLogin,
  { issuer }: Vouched,
  source: Source,
): Promise<Outcome> {
  const { ip_address } = source;
  const counters = await requireNoWait(await loginCounters(user.email, ip_address, user)); // protection
  const attempt = attemptOf(source, user, { identity: issuer });
  return recordingRefusals(attempt, async () => {
    const began = await requireCode(user, code, counters); // second factor
    requireActive(user); // suspension
    await requireVerifiedAddress(user, source); // verified addresses
    if (!(await useNonce(nonce))) throw invalidToken(source);
    const tokens = await issueTokens(user, source, began);
    await conclude(attempt, user, counters, source);
    return { tokens, isNew: false };
  });
}

async function register(login: IdentityLogin, vouched: Vouched, source: Source): Promise<Outcome> {
  try {
    return { tokens: await registerByIdentity(login, vouched, source), isNew: true };
  } catch (error) {
    // Another request has used the nonce, or registered the user.
    if (isRefusedFor(error, 'IDENTITY_TOKEN_INVALID')) throw invalidToken(source);
    if (isRefusedFor(error, 'IDENTITY_LINKED')) return logInSince(login, vouched, source);
    throw error;
  }
}

function isRefusedFor(error: unknown, code: ErrorCode): boolean {
  return error instanceof DomainError && error.code === code;
}

async function logInSince(login: IdentityLogin, vouched: Vouched, source: Source) {
  const user = await findUserByIdentity(vouched);
  if (!user) throw new DomainError('IDENTITY_LINKED');
  return logInLinked(user, login, vouched, source);
}
