/**
 * Who may call an endpoint (decisions, Callers and what they may do): the middlewares that see
 * to it, token (401) before role (403). An endpoint for anyone imports `anyone` from endpoint.ts
 * and carries none of this.
 */
import { config } from './config.ts';
import type { AuthenticatedRequest, ProtectedAccess } from './endpoint.ts';
import { authenticate } from './middleware/authenticate.ts';
import { authorize } from './middleware/authorize.ts';

const isAdmin = ({ claims }: AuthenticatedRequest) => claims.role === 'admin';
const isSelf = ({ claims, pathParameters }: AuthenticatedRequest) =>
  pathParameters?.id === String(claims.id);
const isSelfOrAdmin = (request: AuthenticatedRequest) => isSelf(request) || isAdmin(request);
const mayRead = (request: AuthenticatedRequest) =>
  config.userDirectory === 'open' || isSelfOrAdmin(request);

/** Any valid token. */
export const authenticated: ProtectedAccess = [authenticate()];

/** Any valid token of an admin. */
export const adminOnly: ProtectedAccess = [authenticate(), authorize(isAdmin)];

/** The user that the path's id names, or an admin. */
export const selfOrAdmin: ProtectedAccess = [authenticate(), authorize(isSelfOrAdmin)];

/** Any valid token; while the directory is closed, the user itself or an admin. */
export const userDirectory: ProtectedAccess = [authenticate(), authorize(mayRead)];
