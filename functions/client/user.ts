/** Who a token says that is signed in. Only the service, or who verifies the token, knows whether that is true. */

/** @template Declared the claims that the service adds to tokens by its settings */
export type User<Declared extends object = object> = {
  readonly id: number;
  readonly email: string;
  readonly role: 'user' | 'admin';
} & Readonly<Declared>;

export interface Tokens {
  readonly token: string;
  /** Where there are sessions. */
  readonly refreshToken?: string | undefined;
}

/** The times of a token, in milliseconds since 1970 by the clock of the service. */
export interface Times {
  readonly issued: number;
  readonly ends: number;
}

/**
 * What a token says, unverified.
 * @throws {TypeError} if the text is no token of the service
 */
export function readToken<Declared extends object = object>(
  token: string,
): Times & { readonly user: User<Declared> } {
  const { iat, exp, nbf, iss, aud, sub, jti, ...user } = claimsIn(token);
  if (typeof user.id !== 'number' || typeof exp !== 'number' || typeof iat !== 'number') {
    throw new TypeError('This is no token of the accounts service');
  }
  return { user: user as unknown as User<Declared>, issued: iat * 1000, ends: exp * 1000 };
}

/** Without `TextDecoder`, which not every place has: each byte is read as in a URL. */
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
