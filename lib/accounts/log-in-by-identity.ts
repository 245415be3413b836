/** How users log in, and register, by an ID token of another issuer (functions/README.md, Identities). */
import { DomainError } from '../ground/errors.ts';
import type { Source } from '../ground/source.ts';
import { useNonce } from '../keys/nonce.ts';
import type { Tokens } from '../keys/token.ts';
import { type TokenAndNonce, type Vouched, verifyIdToken } from '../options/identities/id-token.ts';
import { findUserByIdentity } from '../options/identities/identities.ts';
import { countersUnlessWaiting } from '../options/protection/counters.ts';
import type { StoredUser } from '../users/item.ts';
import {
  attemptOf,
  conclude,
  countingRefusals,
  issueTokens,
  Refused,
  remindAndRefuseUnverified,
  requireActive,
  useSecondFactor,
} from './login-steps.ts';
import { registerByIdentity } from './register.ts';

interface IdentityLogin extends TokenAndNonce {
  readonly name?: string | undefined;
  readonly code?: string | undefined;
}

interface Outcome {
  readonly tokens: Tokens;
  readonly isNew: boolean;
}

/**
 * Logs in the user to whom an identity is linked, or registers a user for the identity.
 * @throws {DomainError} TOO_MANY_ATTEMPTS, IDENTITY_TOKEN_INVALID, IDENTITY_PROVIDER_FAULT, EMAIL_NOT_VERIFIED,
 *   FIELD_INVALID, EMAIL_REGISTERED, LOGIN_CODE_REQUIRED, LOGIN_CODE_WRONG, ACCOUNT_SUSPENDED, TOKEN_FAULT,
 *   STORAGE_FAULT
 */
export async function logInByIdentity(login: IdentityLogin, source: Source): Promise<Outcome> {
  const counters = await countersUnlessWaiting(source); // protection
  const invalid = new Refused('IDENTITY_TOKEN_INVALID', 'invalid_identity_token', counters);
  return countingRefusals(attemptOf(source), async () => {
    const vouched = await verifyIdToken(login);
    if (!vouched) throw invalid;
    const user = await findUserByIdentity(vouched);
    const given = { login, vouched, invalid, source };
    return user ? logInLinked(user, given) : register(given);
  });
}

interface Vouching {
  readonly login: IdentityLogin;
  readonly vouched: Vouched;
  /** The refusal where another request has used the nonce. */
  readonly invalid: Refused;
  readonly source: Source;
}

async function logInLinked(user: StoredUser, given: Vouching): Promise<Outcome> {
  const { login, vouched, invalid, source } = given;
  const counters = await countersUnlessWaiting(source, user); // protection
  const attempt = attemptOf(source, user, { identity: vouched.issuer });
  return countingRefusals(attempt, async () => {
    const factor = await useSecondFactor(user, login.code, counters); // second factor
    requireActive(user); // suspension
    await remindAndRefuseUnverified(user, source); // verified addresses
    await useNonce(login.nonce, invalid);
    const tokens = await issueTokens(user, source, factor);
    await conclude(attempt, user, counters); // the audit entry; protection, verified addresses
    return { tokens, isNew: false };
  });
}

async function register(given: Vouching): Promise<Outcome> {
  const { login, vouched, invalid, source } = given;
  try {
    return { tokens: await registerByIdentity(login, vouched, source), isNew: true };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    // Another request has used the nonce, or registered the user.
    if (error.code === 'IDENTITY_TOKEN_INVALID') throw invalid;
    const user = error.code === 'IDENTITY_LINKED' ? await findUserByIdentity(vouched) : undefined;
    if (!user) throw error;
    return logInLinked(user, given);
  }
}
