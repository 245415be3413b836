import { config } from '../config.ts';
import type { ApiRequest, Middleware } from '../endpoint.ts';
import { DomainError } from '../errors.ts';

const isAdmin = ({ claims }: ApiRequest) => claims.role === 'admin';
const isSelf = ({ claims, pathParameters }: ApiRequest) => pathParameters?.id === String(claims.id);

/** Who may call an endpoint, decided from the claims alone (decisions, Callers). */
const rules = {
  authenticated: () => true,
  admin: isAdmin,
  'self-or-admin': (event: ApiRequest) => isSelf(event) || isAdmin(event),
  directory: (event: ApiRequest) =>
    config.userDirectory === 'open' || isSelf(event) || isAdmin(event),
} as const;

export type Access = 'anyone' | keyof typeof rules;

/** Rejects with FORBIDDEN a caller whom the rule does not allow. Runs after authentication. */
export const authorize = ({ access }: { access: keyof typeof rules }): Middleware => {
  const authorizeBefore: NonNullable<Middleware['before']> = (request) => {
    if (!rules[access](request.event as ApiRequest)) throw new DomainError('FORBIDDEN');
  };

  return { before: authorizeBefore };
};
