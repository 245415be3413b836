import { randomUUID } from 'node:crypto';
import { errors, type JWTPayload, jwtVerify, SignJWT } from 'jose';
import { DomainError } from '../ground/errors.ts';
import { config } from '../ground/settings.ts';
import { clockSkew, seconds } from '../ground/time.ts';
import { isUserId, type Role, roles, type User } from '../users/user.ts';
import { tokenKeys } from './signing-key.ts';
import { signingKeys } from './signing-secret.ts';

/** The session to which a token belongs, if there are sessions, as parameters of the token's protected header. */
export interface Belonging {
  readonly session: string;
  /** The number of the token's pair in the session. */
  readonly pair: number;
}

/** The claims of a token (functions/README.md, Tokens). Times are seconds since 1970. */
export interface Claims {
  readonly id: number;
  readonly email: string;
  readonly role: Role;
  readonly iat: number;
  readonly exp: number;
}

export interface Tokens {
  readonly token: string;
  readonly refreshToken?: string;
}

/**
 * Issues a signed bearer token (RFC 7519) that is valid for TOKEN_MINUTES.
 * @param claims further claims: the attributes of the user
 * @param belonging parameters for the header: verifiers ignore parameters that they do not know (RFC 7515, section 4)
 * @throws {DomainError} TOKEN_FAULT when no secret or key can sign
 */
export async function issueToken(
  { id, email, role }: Pick<User, 'id' | 'email' | 'role'>,
  {
    now = new Date(),
    claims: further = {},
    ...belonging
  }: Partial<Belonging> & { readonly now?: Date; readonly claims?: object } = {},
): Promise<string> {
  const iat = seconds(now);
  const exp = iat + config.tokenMinutes * 60;
  const claims = { id, email, role, iat, exp, ...further };
  try {
    if (config.tokenSigning === 'RS256') return await signByKey(claims, belonging);
    const [{ cryptoKey }] = await signingKeys();
    return await new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT', ...belonging })
      .sign(cryptoKey);
  } catch (cause) {
    throw new DomainError('TOKEN_FAULT', { cause });
  }
}

// Tokens that a key signs have the form of RFC 9068 (functions/README.md, Tokens that others verify).

/** The issuer and the audience of tokens. Settings name them; a request never does. */
export function issued() {
  const issuer = config.tokenIssuer || config.apiUrl;
  return { issuer, audience: config.tokenAudience || issuer };
}

/**
 * The encoding of signatures. In a signature of 32 bytes the last character holds four bits, in a signature of 256
 * bytes it holds two. The decoder ignores padding, white space and unused bits, and so would also accept other
 * encodings.
 */
const encodings = {
  HS256: /\.[\w-]{42}[AEIMQUYcgkosw048]$/,
  RS256: /\.[\w-]{341}[AQgw]$/,
} as const;

/**
 * Verifies a bearer token (functions/README.md, Tokens) and returns its claims.
 * @throws {DomainError} TOKEN_EXPIRED for a token whose only flaw is its age, TOKEN_INVALID for any other flaw; and
 *   the errors of {@link signingKeys} or of the keys
 */
export async function verifyToken(
  token: string,
  { now = new Date() }: { now?: Date } = {},
): Promise<Claims> {
  if (!encodings[config.tokenSigning].test(token)) throw new DomainError('TOKEN_INVALID');
  const payload = await verify(token, now);
  if (!isClaims(payload) || payload.iat > seconds(now) + clockSkew) {
    throw new DomainError('TOKEN_INVALID');
  }
  if (payload.exp <= seconds(now)) throw new DomainError('TOKEN_EXPIRED');
  const { id, email, role, iat, exp } = payload;
  return { id, email, role, iat, exp };
}

/** The header of a token: its session and pair, if there are sessions, and its key. */
export function belongingOf(token: string): Partial<Belonging> & { readonly kid?: string } {
  const header = Buffer.from(token.slice(0, token.indexOf('.')), 'base64url').toString();
  return JSON.parse(header);
}

async function signByKey(claims: Claims, parameters: object): Promise<string> {
  const [{ published, sign }] = await tokenKeys();
  const header = { alg: 'RS256', typ: 'at+jwt', kid: published.kid, ...parameters };
  const { issuer: iss, audience: aud } = issued();
  const own = { iss, aud, sub: String(claims.id), jti: randomUUID() };
  const signed = `${encode(header)}.${encode({ ...claims, ...own })}`;
  return `${signed}.${(await sign(signed)).toString('base64url')}`;
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}

async function verify(token: string, now: Date): Promise<JWTPayload> {
  const { keys, ...expected } = await expectationsOf(token);
  const options = { ...expected, clockTolerance: clockSkew, currentDate: now };
  for (const { cryptoKey } of keys) {
    try {
      return (await jwtVerify(token, cryptoKey, options)).payload;
    } catch (error) {
      // The expiry is checked below, to the second, after the form of the claims.
      if (error instanceof errors.JWTExpired) return error.payload;
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) break;
    }
  }
  throw new DomainError('TOKEN_INVALID');
}

/** A deployment uses only one algorithm. */
async function expectationsOf(token: string) {
  if (config.tokenSigning === 'HS256') return { keys: await signingKeys(), algorithms: ['HS256'] };
  const kid = kidIn(token);
  const keys = (await tokenKeys(kid)).filter(({ published }) => published.kid === kid);
  return { keys, algorithms: ['RS256'], typ: 'at+jwt', ...issued() };
}

/** The id of the key that a token names, which is not verified yet. */
function kidIn(token: string): string | undefined {
  try {
    return belongingOf(token).kid;
  } catch {
    return undefined;
  }
}

function isClaims(payload: JWTPayload): payload is JWTPayload & Claims {
  return (
    isUserId(payload.id) &&
    typeof payload.email === 'string' &&
    roles.some((role) => role === payload.role) &&
    Number.isFinite(payload.iat) &&
    Number.isFinite(payload.exp)
  );
}
