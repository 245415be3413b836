/** The user whom a token names. Only the service, or code that verifies the token, knows whether that is true. */

/** @template Declared the attributes that the service adds to tokens as claims, by their names */
export type User<Declared extends object = object> = {
  readonly id: number;
  readonly email: string;
  readonly role: 'user' | 'admin';
} & Readonly<Declared>;

export interface Tokens {
  readonly token: string;
  /** Present if the service has sessions. */
  readonly refreshToken?: string | undefined;
}

/** The times of a token, in milliseconds since 1970 by the clock of the service. */
export interface Times {
  readonly issued: number;
  readonly ends: number;
}

/**
 * Reads the claims of a token, which it does not verify. The claim `attr:plan` is the attribute `plan`.
 * @throws {TypeError} if the text is not a token of the service
 */
export function readToken<Declared extends object = object>(
  token: string,
): Times & { readonly user: User<Declared> } {
  const { iat, exp, nbf, iss, aud, sub, jti, ...user } = claimsIn(token);
  if (typeof user.id !== 'number' || typeof exp !== 'number' || typeof iat !== 'number') {
    throw new TypeError('This is no token of the accounts service');
  }
  const named = Object.entries(user).map(([name, value]) => [name.replace(/^attr:/, ''), value]);
  return { user: Object.fromEntries(named), issued: iat * 1000, ends: exp * 1000 };
}

/** Decodes UTF-8 without `TextDecoder`, which not every platform has: the bytes are percent-encoded as in a URL. */
function claimsIn(token: string): Record<string, unknown> {
  try {
    const payload = token.split('.')[1]?.replace(/-/g, '+').replace(/_/g, '/') ?? '';
    const bytes = Array.from(atob(payload), (byte) => byte.charCodeAt(0).toString(16));
    const text = decodeURIComponent(bytes.map((byte) => `%${byte.padStart(2, '0')}`).join(''));
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}
