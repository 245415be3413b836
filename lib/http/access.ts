/** What a request says of its caller, and what authentication has read of it. */

import { findSessionUser, verifyToken } from '../auth/token.ts';
import { DomainError } from '../errors.ts';
import { config } from '../settings.ts';
import { toUser } from '../users/items.ts';
import { findUser } from '../users/store.ts';
import type { Permission } from '../users/update.ts';
import type { User } from '../users/user.ts';
import type { Access } from './endpoint.ts';
import type { AuthenticatedRequest, IncomingEvent, Middleware } from './request.ts';

const scheme = 'Bearer ';

/** The token of a request. @throws {DomainError} NO_TOKEN */
export const bearerToken = ({ headers }: Pick<IncomingEvent, 'headers'>): string => {
  const header: string | undefined = headers?.authorization;
  if (!header?.startsWith(scheme)) throw new DomainError('NO_TOKEN');
  return header.slice(scheme.length);
};

/**
 * The user with an id, as last written, or undefined. The caller is not read a second time.
 * @throws {DomainError} STORAGE_FAULT
 */
export const findUserFor = async (
  { caller }: Pick<AuthenticatedRequest, 'caller'>,
  id: number,
): Promise<User | undefined> => (caller?.id === id ? toUser({ ...caller }) : findUser(id));

// * Who may call an endpoint: the middlewares that see to it, token (401) before role (403).
// An endpoint for anyone imports `anyone` from endpoint.ts and carries none of this. By
// `__NO_SIDE_EFFECTS__` each bundle leaves out the rules that its function does not use.

/**
 * Establishes who the caller is and leaves the token's claims at `event.claims`; where sessions are
 * revocable, the stored role in them, and the stored user at `event.caller`. Rejects with NO_TOKEN,
 * TOKEN_EXPIRED or TOKEN_INVALID, with STORAGE_FAULT when the session cannot be read, or with what
 * {@link verifyToken} throws when no secret can be read.
 * @param mayBeGone whether the user need not be stored any more
 */
// @__NO_SIDE_EFFECTS__
const authenticate = ({ mayBeGone = false } = {}): Middleware => {
  const authenticateBefore: NonNullable<Middleware['before']> = async ({ event }) => {
    const token = bearerToken(event);
    const claims = await verifyToken(token);
    event.claims = claims;
    if (config.sessions === 'stateless') return;
    const caller = await findSessionUser(token, claims);
    if (!caller && !mayBeGone) throw new DomainError('TOKEN_INVALID');
    if (caller) Object.assign(event, { caller, claims: { ...claims, role: caller.role } });
  };

  return { before: authenticateBefore };
};

/**
 * Rejects with FORBIDDEN a caller whom the rule does not allow. Runs after authentication and
 * judges by the claims.
 */
// @__NO_SIDE_EFFECTS__
const authorize = (allows: (request: AuthenticatedRequest) => boolean): Middleware => {
  const authorizeBefore: NonNullable<Middleware['before']> = (request) => {
    if (!allows(request.event as AuthenticatedRequest)) throw new DomainError('FORBIDDEN');
  };

  return { before: authorizeBefore };
};

const isAdmin = ({ claims }: AuthenticatedRequest) => claims.role === 'admin';
const isSelf = ({ claims, pathParameters }: AuthenticatedRequest) =>
  pathParameters?.id === String(claims.id);
const isSelfOrAdmin = (request: AuthenticatedRequest) => isSelf(request) || isAdmin(request);
const mayRead = (request: AuthenticatedRequest) =>
  config.userDirectory === 'open' || isSelfOrAdmin(request);

/** What permits a request; it throws for those that nothing permits. */
type Permit = (request: AuthenticatedRequest) => Promise<Permission>;

/**
 * Lets a user itself and admins pass, and leaves at `event.permission` what permits others. Rejects
 * with what the rule throws.
 */
// @__NO_SIDE_EFFECTS__
const authorizeOthers = (permit: Permit): Middleware => {
  const authorizeOthersBefore: NonNullable<Middleware['before']> = async ({ event }) => {
    const request = event as AuthenticatedRequest;
    if (!isSelfOrAdmin(request)) Object.assign(event, { permission: await permit(request) });
  };

  return { before: authorizeOthersBefore };
};

/** Any valid token. */
export const authenticated = {
  caller: 'user',
  checks: [authenticate()],
} as const satisfies Access;

/** Any valid token, also of a user who was deleted. */
export const authenticatedEvenIfDeleted = {
  caller: 'user',
  checks: [authenticate({ mayBeGone: true })],
} as const satisfies Access;

/** Any valid token of an admin. */
export const adminOnly = {
  caller: 'admin',
  checks: [authenticate(), authorize(isAdmin)],
} as const satisfies Access;

/** The user that the path's id names, an admin, or whoever made that user, as a rule permits. */
// @__NO_SIDE_EFFECTS__
export const selfOrAdminOr = (permit: Permit) =>
  ({
    caller: 'maker',
    checks: [authenticate(), authorizeOthers(permit)],
  }) as const satisfies Access;

/** Any valid token; while the directory is closed, the user itself or an admin. */
export const userDirectory = {
  caller: 'directory',
  checks: [authenticate(), authorize(mayRead)],
} as const satisfies Access;
