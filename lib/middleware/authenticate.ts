import type { Middleware } from '../endpoint.ts';
import { DomainError } from '../errors.ts';
import { verifyToken } from '../tokens/token.ts';

const scheme = 'Bearer ';

/**
 * Establishes who the caller is (spec, Authentication) and leaves the token's claims at
 * `event.claims`. Rejects with NO_TOKEN, TOKEN_EXPIRED or TOKEN_INVALID, or with what
 * {@link verifyToken} throws when no secret can be read.
 */
export const authenticate = (): Middleware => {
  const authenticateBefore: NonNullable<Middleware['before']> = async (request) => {
    const header: string | undefined = request.event.headers?.authorization;
    if (!header?.startsWith(scheme)) throw new DomainError('NO_TOKEN');
    request.event.claims = await verifyToken(header.slice(scheme.length));
  };

  return { before: authenticateBefore };
};
