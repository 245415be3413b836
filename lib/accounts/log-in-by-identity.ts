/** How users log in, and register, by an ID token of another issuer (functions/README.md, Identities). */
import { record, recordingFaults } from '../audit/record.ts';
import { DomainError, type ErrorCode } from '../ground/errors.ts';
import type { Source } from '../ground/source.ts';
import { useNonce, usingNonce } from '../keys/nonce.ts';
import type { Tokens } from '../keys/token.ts';
import { type TokenAndNonce, type Vouched, verifyIdToken } from '../options/identities/id-token.ts';
import { findUserByIdentity, linking, makeIdentity } from '../options/identities/identities.ts';
import {
  countRegistration,
  loginCounters,
  requireNoWait,
  sourceCounters,
} from '../options/protection/counters.ts';
import { prepareFirstSession } from '../options/sessions/session-tokens.ts';
import { verifiedAs } from '../options/verified-addresses/address.ts';
import { requireVerifiable } from '../users/fields.ts';
import type { StoredUser } from '../users/item.ts';
import { insertUser, prepareUser } from '../users/store.ts';
import { creationDetails } from '../users/user.ts';
import {
  attemptOf,
  conclude,
  Refused,
  recordingRefusals,
  requireActive,
  requireCode,
  requireTokens,
  requireVerifiedAddress,
} from './login-steps.ts';

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
    return register(login, vouched, source).catch((error) =>
      // Another request has registered the user.
      isRefusedFor(error, 'IDENTITY_LINKED')
        ? logInSince(login, vouched, source)
        : Promise.reject(error),
    );
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
    await requireCode(user, code, counters); // second factor
    requireActive(user); // suspension
    await requireVerifiedAddress(user, source); // verified addresses
    if (!(await useNonce(nonce))) throw invalidToken(source);
    const tokens = await requireTokens(user, source);
    await conclude(attempt, user, counters, source);
    return { tokens, isNew: false };
  });
}

/**
 * Registers a user for an identity that is linked to nobody. It is never linked to a user because that user
 * has the same address.
 */
async function register(login: IdentityLogin, vouched: Vouched, source: Source): Promise<Outcome> {
  const { email } = vouched;
  if (email === undefined) throw new DomainError('EMAIL_NOT_VERIFIED');
  requireVerifiable(email); // verified addresses
  await countRegistration(source.ip_address); // protection
  const creation = { ...source, action: 'CREATE' } as const;
  const name = login.name ?? vouched.name ?? nameIn(email);
  const own = { name, email, password: undefined };
  const prepared = await recordingFaults(creation, prepareUser(own, 'user'));
  const user = { ...prepared, ...verifiedAs(true), identities: [makeIdentity(vouched)] };
  const { tokens, writes } = await recordingFaults(creation, prepareFirstSession(user, source));
  const details = { ...creationDetails(user), identity: vouched.issuer };
  const created = { ...creation, user_id: user.id, resource_id: user.id, details };
  const nonceUse = usingNonce(login.nonce, 'IDENTITY_TOKEN_INVALID');
  const inserting = insertUser(user, [nonceUse, ...linking(user), ...writes]);
  await recordingFaults(created, inserting).catch((error: unknown) => {
    // Another request has used the nonce.
    throw isRefusedFor(error, 'IDENTITY_TOKEN_INVALID') ? invalidToken(source) : error;
  });
  await record(created);
  return { tokens, isNew: true };
}

/** The part of an address before the @, as a name. */
function nameIn(email: string): string {
  return [...email.replace(/@.*/, '')].slice(0, 100).join('');
}

function isRefusedFor(error: unknown, code: ErrorCode): boolean {
  return error instanceof DomainError && error.code === code;
}

async function logInSince(login: IdentityLogin, vouched: Vouched, source: Source) {
  const user = await findUserByIdentity(vouched);
  if (!user) throw new DomainError('IDENTITY_LINKED');
  return logInLinked(user, login, vouched, source);
}
