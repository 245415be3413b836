/** `accounts-client/verify`: verifies tokens of a service whose setting TOKEN_SIGNING is RS256. */
import { createRemoteJWKSet, errors, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { AccountsError, type Answer } from './answer.ts';
import { tokenExpired } from './service.ts';
import { readToken, type User } from './user.ts';

export interface Verification {
  /** The URL of the service, under which it publishes its keys. */
  readonly url: string;
  /** The setting TOKEN_ISSUER. */
  readonly issuer?: string | undefined;
  /** The setting TOKEN_AUDIENCE. */
  readonly audience?: string | undefined;
}

/**
 * Verifies a token without a request to the service, whose keys are kept for ten minutes. Until a token expires, it
 * stays valid even if its session has ended, or a role was taken away.
 * @returns the user, or the error TOKEN_EXPIRED, TOKEN_INVALID, or NO_RESPONSE if the keys cannot be read
 */
export async function verifyToken<Declared extends object = object>(
  token: string,
  { url, issuer = url, audience = issuer }: Verification,
): Promise<Answer<User<Declared>>> {
  // No other algorithm is accepted, whichever the token names.
  const expected = { algorithms: ['RS256'], typ: 'at+jwt', issuer, audience };
  try {
    await jwtVerify(token, keysOf(url), { ...expected, requiredClaims: ['exp', 'iat'] });
    return { data: readToken<Declared>(token).user, error: null };
  } catch (error) {
    return { data: null, error: errorOf(error) };
  }
}

const sets = new Map<string, JWTVerifyGetKey>();

/** The keys of a service, which are read once for all verifications. */
function keysOf(url: string): JWTVerifyGetKey {
  const known = sets.get(url) ?? createRemoteJWKSet(new URL(`${url}/.well-known/jwks.json`));
  sets.set(url, known);
  return async (...token) => {
    try {
      return await known(...token);
    } catch (cause) {
      if (cause instanceof errors.JWKSNoMatchingKey) throw cause;
      throw new AccountsError('NO_RESPONSE', { message: 'The keys cannot be read', cause });
    }
  };
}

function errorOf(cause: unknown): AccountsError {
  if (cause instanceof AccountsError) return cause;
  return cause instanceof errors.JWTExpired
    ? tokenExpired(cause)
    : new AccountsError('TOKEN_INVALID', { status: 401, message: 'Invalid token', cause });
}
