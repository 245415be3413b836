import type { AuthenticatedRequest, Middleware } from '../endpoint.ts';
import { DomainError } from '../errors.ts';

/**
 * Rejects with FORBIDDEN a caller whom the rule does not allow. Runs after authentication and
 * judges by the claims alone.
 */
export const authorize = (allows: (request: AuthenticatedRequest) => boolean): Middleware => {
  const authorizeBefore: NonNullable<Middleware['before']> = (request) => {
    if (!allows(request.event as AuthenticatedRequest)) throw new DomainError('FORBIDDEN');
  };

  return { before: authorizeBefore };
};
