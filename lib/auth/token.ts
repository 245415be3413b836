import { createHash, randomBytes } from 'node:crypto';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { errors, type JWTPayload, jwtVerify, SignJWT } from 'jose';
import { send } from '../dynamodb/client.ts';
import { DomainError } from '../errors.ts';
import { config } from '../settings.ts';
import { clockSkew, seconds } from '../time.ts';
import { getItems, type ItemKey, type StoredUser, toStoredUser, userKey } from '../users/items.ts';
import { isUserId, type Role, roles } from '../users/user.ts';
import { type SigningKeys, signingKeys, tokenLifetime } from './signing-secret.ts';

/** The claims of a token (functions/README.md, Tokens). Times are seconds since 1970. */
export interface Claims {
  readonly id: number;
  readonly email: string;
  readonly role: Role;
  readonly iat: number;
  readonly exp: number;
}

/**
 * The parameters of the header for a session that can be ended: its number, and a nonce, so that
 * two tokens of the same second differ. Verifiers ignore unknown parameters (RFC 7515, section 4).
 */
const sessionHeader = ({ session_number: session = 0 }: Pick<StoredUser, 'session_number'>) =>
  config.sessions === 'stateless' ? {} : { session, nonce: randomBytes(16).toString('base64url') };

/**
 * The session number of a verified token; 0 for one that was issued while sessions were stateless.
 */
const sessionOf = (token: string): unknown => {
  const header = Buffer.from(token.slice(0, token.indexOf('.')), 'base64url').toString();
  const { session = 0 }: { session?: unknown } = JSON.parse(header);
  return session;
};

/**
 * Issues a signed bearer token (RFC 7519, HS256) that is valid for {@link tokenLifetime}.
 * @param user as read before the password was checked, so that no later change is missed
 * @throws {DomainError} TOKEN_FAULT when there is no usable signing secret
 */
export const issueToken = async (
  user: Pick<StoredUser, 'id' | 'email' | 'role' | 'session_number'>,
  { now = new Date() }: { now?: Date } = {},
): Promise<string> => {
  try {
    const { id, email, role } = user;
    const [{ cryptoKey }] = await signingKeys();
    return await new SignJWT({ id, email, role })
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT', ...sessionHeader(user) })
      .setIssuedAt(seconds(now))
      .setExpirationTime(seconds(now) + tokenLifetime)
      .sign(cryptoKey);
  } catch (cause) {
    throw new DomainError('TOKEN_FAULT', { cause });
  }
};

/**
 * Whether a signature of 32 bytes is spelt as it is issued: the last character holds four bits. The
 * decoder ignores padding, white space and unused bits, which would allow several spellings.
 */
const isSpeltAsIssued = (token: string): boolean => /\.[\w-]{42}[AEIMQUYcgkosw048]$/.test(token);

const verifyWith = async (keys: SigningKeys, token: string, now: Date): Promise<JWTPayload> => {
  const options = {
    algorithms: ['HS256'],
    clockTolerance: clockSkew,
    currentDate: now,
  };
  for (const { cryptoKey } of keys) {
    try {
      return (await jwtVerify(token, cryptoKey, options)).payload;
    } catch (error) {
      // The expiry is checked below, to the second, once the claims are known to be well formed.
      if (error instanceof errors.JWTExpired) return error.payload;
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) break;
    }
  }
  throw new DomainError('TOKEN_INVALID');
};

const isClaims = (payload: JWTPayload): payload is JWTPayload & Claims =>
  isUserId(payload.id) &&
  typeof payload.email === 'string' &&
  roles.some((role) => role === payload.role) &&
  Number.isFinite(payload.iat) &&
  Number.isFinite(payload.exp);

/**
 * Verifies a bearer token (functions/README.md, Tokens) and returns its claims.
 * @throws {DomainError} TOKEN_EXPIRED for a token whose only flaw is its age, TOKEN_INVALID for any
 *   other flaw, and what {@link signingKeys} throws
 */
export const verifyToken = async (
  token: string,
  { now = new Date() }: { now?: Date } = {},
): Promise<Claims> => {
  if (!isSpeltAsIssued(token)) throw new DomainError('TOKEN_INVALID');
  const payload = await verifyWith(await signingKeys(), token, now);
  if (!isClaims(payload) || payload.iat > seconds(now) + clockSkew) {
    throw new DomainError('TOKEN_INVALID');
  }
  if (payload.exp <= seconds(now)) throw new DomainError('TOKEN_EXPIRED');
  const { id, email, role, iat, exp } = payload;
  return { id, email, role, iat, exp };
};

/** The key of the item that marks a token as logged out. The token itself is not stored. */
const loggedOutKey = (token: string): ItemKey => ({
  pk: `logged-out#${createHash('sha256').update(token).digest('base64url')}`,
});

/**
 * Reads the user of a verified token, provided that its session has not been ended.
 * @returns undefined when the user was deleted
 * @throws {DomainError} TOKEN_INVALID when the session was ended, STORAGE_FAULT
 */
export const findSessionUser = async (
  token: string,
  { id }: Pick<Claims, 'id'>,
): Promise<StoredUser | undefined> => {
  const [item, loggedOut] = await getItems([userKey(id), loggedOutKey(token)]);
  const user = item && toStoredUser(item);
  const isEnded = user && sessionOf(token) !== (user.session_number ?? 0);
  if (loggedOut || isEnded) throw new DomainError('TOKEN_INVALID');
  return user;
};

/** Ends the session of a token, by an item that lasts until the token expires. */
export const endSession = async (token: string, { exp }: Pick<Claims, 'exp'>): Promise<void> => {
  const Item = { ...loggedOutKey(token), expires_at: exp };
  await send(new PutCommand({ TableName: config.usersTable, Item }));
};
