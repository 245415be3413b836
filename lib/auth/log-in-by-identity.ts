/** How users log in, and register, by an ID token of another issuer (functions/README.md, Identities). */
import { audited } from '../audit/record.ts';
import { DomainError } from '../errors.ts';
import { type TokenAndNonce, type Vouched, verifyIdToken } from '../identities/id-token.ts';
import { useNonce, usingNonce } from '../identities/nonce.ts';
import type { Source } from '../source.ts';
import { requireVerifiable } from '../users/fields.ts';
import { findUserByIdentity, linking, makeIdentity } from '../users/identities.ts';
import type { StoredUser } from '../users/items.ts';
import { insertUser, prepareUser } from '../users/store.ts';
import { creationDetails } from '../users/user.ts';
import {
  type Counter,
  countRegistration,
  loginCounters,
  requireNoWait,
  sourceCounters,
} from './counters.ts';
import { admit, conclude, type Refusal, refuse } from './log-in.ts';
import { prepareFirstSession, type Tokens } from './session-tokens.ts';

/** What somebody sends: the name is for a new user. */
interface IdentityLogin extends TokenAndNonce {
  readonly name?: string | undefined;
  readonly code?: string | undefined;
}

const attemptOf = (source: Source, user?: StoredUser, issuer?: string) =>
  ({
    ...source,
    action: 'LOGIN',
    user_id: user?.id,
    resource_id: user?.id,
    ...(issuer && { details: { identity: issuer } }),
  }) as const;

const notValid = (counters: readonly Counter[]): Refusal => ({
  reason: 'invalid_identity_token',
  error: new DomainError('IDENTITY_TOKEN_INVALID'),
  counters,
});

/** What stands before the @, as a name. */
const nameIn = (email: string): string => [...email.replace(/@.*/, '')].slice(0, 100).join('');

/**
 * Registers a user for an identity that is linked to nobody. It is never linked to a user because that user
 * has the same address.
 */
const registerUser = async (
  login: IdentityLogin,
  vouched: Vouched,
  source: Source,
): Promise<Tokens> => {
  const { email } = vouched;
  if (email === undefined) throw new DomainError('EMAIL_NOT_VERIFIED');
  requireVerifiable(email);
  await countRegistration(source.ip_address);
  return audited({ ...source, action: 'CREATE' }, async (entry) => {
    const name = login.name ?? vouched.name ?? nameIn(email);
    const own = { name, email, password: undefined };
    const prepared = await prepareUser(own, 'user', { isVerified: true });
    const made = { ...prepared, identities: [makeIdentity(vouched)] };
    const { tokens, writes } = await prepareFirstSession(made, source);
    const details = { ...creationDetails(made), identity: vouched.issuer };
    Object.assign(entry, { user_id: made.id, resource_id: made.id, details });
    const steps = [usingNonce(login.nonce), ...linking(made.id, made.identities), ...writes];
    await insertUser(made, steps);
    return tokens;
  });
};

const logInUser = async (
  user: StoredUser,
  login: IdentityLogin,
  { issuer }: Vouched,
  source: Source,
): Promise<Tokens> => {
  const { ip_address } = source;
  await requireNoWait(await loginCounters(user.email, ip_address, user));
  const counters = sourceCounters(ip_address);
  const last = async () => ((await useNonce(login.nonce)) ? undefined : notValid(counters));
  const outcome = await admit(user, { email: user.email, code: login.code }, source, last);
  return conclude(attemptOf(source, user, issuer), outcome, source);
};

/**
 * Logs in the user to whom an identity is linked, or registers one for it.
 * @returns the tokens of the new session, and whether the user is new
 * @throws {DomainError} TOO_MANY_ATTEMPTS, IDENTITY_TOKEN_INVALID, IDENTITY_PROVIDER_FAULT,
 *   EMAIL_NOT_VERIFIED, FIELD_INVALID, EMAIL_REGISTERED, LOGIN_CODE_REQUIRED, LOGIN_CODE_WRONG, TOKEN_FAULT,
 *   STORAGE_FAULT
 */
export const logInByIdentity = async (
  login: IdentityLogin,
  source: Source,
): Promise<{ tokens: Tokens; isNew: boolean }> => {
  const counters = await requireNoWait(sourceCounters(source.ip_address));
  const vouched = await verifyIdToken(login);
  if (!vouched) return refuse(attemptOf(source), notValid(counters));
  const logIn = async () => {
    const user = await findUserByIdentity(vouched);
    return user && { tokens: await logInUser(user, login, vouched, source), isNew: false };
  };
  const known = await logIn();
  if (known) return known;
  try {
    return { tokens: await registerUser(login, vouched, source), isNew: true };
  } catch (error) {
    const code = error instanceof DomainError ? error.code : '';
    // Another request has used the nonce, or has registered the user.
    if (code === 'IDENTITY_TOKEN_INVALID') return refuse(attemptOf(source), notValid(counters));
    const since = code === 'IDENTITY_LINKED' && (await logIn());
    if (since) return since;
    throw error;
  }
};
