import { errors, type JWTPayload, jwtVerify, SignJWT } from 'jose';
import { DomainError } from '../errors.ts';
import { type Role, roles } from '../users/role.ts';
import { isUserId } from '../users/user.ts';
import { type SigningKeys, signingKeys, tokenLifetime } from './signing-secret.ts';

/** What a token says of its holder (functions/README.md, Tokens). Times are seconds since 1970. */
export interface Claims {
  readonly id: number;
  readonly email: string;
  readonly role: Role;
  readonly iat: number;
  readonly exp: number;
}

/** Seconds by which another machine's clock may run ahead of ours. */
const clockSkew = 60;

const seconds = (date: Date) => Math.floor(date.getTime() / 1000);

/**
 * Issues a signed bearer token (RFC 7519, HS256) that is valid for {@link tokenLifetime}.
 * @throws {DomainError} TOKEN_FAULT when there is no usable signing secret
 */
export const issueToken = async (
  { id, email, role }: Pick<Claims, 'id' | 'email' | 'role'>,
  { now = new Date() }: { now?: Date } = {},
): Promise<string> => {
  try {
    const [{ cryptoKey }] = await signingKeys();
    return await new SignJWT({ id, email, role })
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .setIssuedAt(seconds(now))
      .setExpirationTime(seconds(now) + tokenLifetime)
      .sign(cryptoKey);
  } catch (cause) {
    throw new DomainError('TOKEN_FAULT', { cause });
  }
};

/**
 * A signature of 32 bytes as it is issued: the last character holds four bits. The decoder passes
 * over padding, white space and unused bits; a signature has one spelling.
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
      // Whether it has expired is decided below, to the second and only once the claims are
      // known to be well formed.
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
 * @throws {DomainError} TOKEN_EXPIRED for a token that is sound in everything but its age;
 *   TOKEN_INVALID for every other flaw; what {@link signingKeys} throws
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
