import { errors, type JWTPayload, jwtVerify, SignJWT } from 'jose';
import { DomainError } from '../errors.ts';
import { clockSkew, seconds } from '../time.ts';
import type { Belonging } from '../users/sessions.ts';
import { isUserId, type Role, roles, type User } from '../users/user.ts';
import { type SigningKeys, signingKeys, tokenLifetime } from './signing-secret.ts';

/** The claims of a token (functions/README.md, Tokens). Times are seconds since 1970. */
export interface Claims {
  readonly id: number;
  readonly email: string;
  readonly role: Role;
  readonly iat: number;
  readonly exp: number;
}

/** What a verified token belongs to, where there are sessions. */
export const belongingOf = (token: string): Partial<Belonging> => {
  const header = Buffer.from(token.slice(0, token.indexOf('.')), 'base64url').toString();
  return JSON.parse(header);
};

/**
 * Issues a signed bearer token (RFC 7519, HS256) that is valid for {@link tokenLifetime}.
 * @param belonging for the header: verifiers ignore parameters that they do not know (RFC 7515,
 *   section 4)
 * @throws {DomainError} TOKEN_FAULT when there is no usable signing secret
 */
export const issueToken = async (
  { id, email, role }: Pick<User, 'id' | 'email' | 'role'>,
  { now = new Date(), ...belonging }: Partial<Belonging> & { now?: Date } = {},
): Promise<string> => {
  try {
    const [{ cryptoKey }] = await signingKeys();
    return await new SignJWT({ id, email, role })
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT', ...belonging })
      .setIssuedAt(seconds(now))
      .setExpirationTime(seconds(now) + tokenLifetime)
      .sign(cryptoKey);
  } catch (cause) {
    throw new DomainError('TOKEN_FAULT', { cause });
  }
};

/**
 * Whether a signature of 32 bytes is encoded as the service encodes it: the last character holds four
 * bits. The decoder ignores padding, white space and unused bits, and would accept several encodings.
 */
const isEncodedAsIssued = (token: string): boolean => /\.[\w-]{42}[AEIMQUYcgkosw048]$/.test(token);

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
  if (!isEncodedAsIssued(token)) throw new DomainError('TOKEN_INVALID');
  const payload = await verifyWith(await signingKeys(), token, now);
  if (!isClaims(payload) || payload.iat > seconds(now) + clockSkew) {
    throw new DomainError('TOKEN_INVALID');
  }
  if (payload.exp <= seconds(now)) throw new DomainError('TOKEN_EXPIRED');
  const { id, email, role, iat, exp } = payload;
  return { id, email, role, iat, exp };
};
