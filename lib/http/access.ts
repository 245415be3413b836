/**
 * Who may call an endpoint: the middlewares that check the token (401) before the role (403).
 * An endpoint for anyone imports `anyone` from endpoint.ts and none of this. The marks
 * `__NO_SIDE_EFFECTS__` let each bundle leave out the rules that its function does not use.
 */
import { belongingOf, verifyToken } from '../auth/token.ts';
import { DomainError, type ErrorCode } from '../errors.ts';
import { config, hasSessions } from '../settings.ts';
import { findBearer } from '../users/bearer.ts';
import { roleInForce, toUser } from '../users/items.ts';
import { findStoredUser } from '../users/store.ts';
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
 * The user with an id, as last written and as the caller may see it, or undefined. A caller who was
 * read already is not read again.
 * @throws {DomainError} STORAGE_FAULT
 */
export const findUserFor = async (
  { caller, claims }: Pick<AuthenticatedRequest, 'caller' | 'claims'>,
  id: number,
): Promise<User | undefined> => {
  const user = caller?.id === id ? caller : await findStoredUser(id);
  return user && toUser(user, claims);
};

/** Whether a request comes from an admin whose role requires a second factor, and who has none. */
export const lacksFactor = ({
  caller,
  claims,
}: Pick<IncomingEvent, 'caller' | 'claims'>): boolean =>
  caller !== undefined && caller.role !== claims?.role;

/**
 * Authenticates the caller and puts the token's claims at `event.claims`. Where there are sessions, it
 * puts the stored user at `event.caller`, and that user's role in force into the claims. Rejects with NO_TOKEN, TOKEN_EXPIRED or TOKEN_INVALID, with STORAGE_FAULT when the
 * session cannot be read, or with what {@link verifyToken} throws when no secret can be read.
 * @param mayBeGone whether the user may have been deleted
 */
// @__NO_SIDE_EFFECTS__
const authenticate = ({ mayBeGone = false } = {}): Middleware => {
  const authenticateBefore: NonNullable<Middleware['before']> = async ({ event }) => {
    const token = bearerToken(event);
    const claims = await verifyToken(token);
    event.claims = claims;
    if (!hasSessions(config)) return;
    const caller = await findBearer(claims.id, belongingOf(token));
    if (!caller && !mayBeGone) throw new DomainError('TOKEN_INVALID');
    if (caller) Object.assign(event, { caller, claims: { ...claims, role: roleInForce(caller) } });
  };

  const authenticateOnError: NonNullable<Middleware['onError']> = (request) => {
    const { error, event } = request;
    if (error instanceof DomainError && error.code === 'FORBIDDEN' && lacksFactor(event)) {
      request.error = new DomainError('SECOND_FACTOR_REQUIRED');
    }
  };

  return { before: authenticateBefore, onError: authenticateOnError };
};

/** Errors of a token that is missing or not valid. */
const tokenFaults: readonly ErrorCode[] = ['NO_TOKEN', 'TOKEN_EXPIRED', 'TOKEN_INVALID'];

/**
 * Authenticates a caller who has a valid token, and lets all others pass as well, who have no claims.
 * Rejects when a token cannot be checked.
 */
// @__NO_SIDE_EFFECTS__
const recognize = (): Middleware => {
  const { before } = authenticate();
  const recognizeBefore: NonNullable<Middleware['before']> = async (request) => {
    try {
      await before?.(request);
    } catch (error) {
      if (!(error instanceof DomainError) || !tokenFaults.includes(error.code)) throw error;
      delete request.event.claims;
    }
  };

  return { before: recognizeBefore };
};

/**
 * Rejects with FORBIDDEN a caller whom the rule does not allow. It runs after authentication and
 * reads the claims.
 */
// @__NO_SIDE_EFFECTS__
const authorize = (allows: (request: AuthenticatedRequest) => boolean): Middleware => {
  const authorizeBefore: NonNullable<Middleware['before']> = (request) => {
    if (!allows(request.event as AuthenticatedRequest)) throw new DomainError('FORBIDDEN');
  };

  return { before: authorizeBefore };
};

const isAdmin = ({ claims }: AuthenticatedRequest) => claims.role === 'admin';
/** Whether a request is about the caller. */
export const isSelf = ({ claims, pathParameters }: AuthenticatedRequest) =>
  pathParameters?.id === String(claims.id);
const isSelfOrAdmin = (request: AuthenticatedRequest) => isSelf(request) || isAdmin(request);
const mayCreate = (request: AuthenticatedRequest) => config.accounts === 'open' || isAdmin(request);
const mayRead = (request: AuthenticatedRequest) =>
  config.accounts === 'open' || isSelfOrAdmin(request);

/**
 * The stored user who calls, for endpoints that exist only where there are sessions.
 * @throws {DomainError} TOKEN_INVALID
 */
export const storedCaller = ({ caller }: Pick<AuthenticatedRequest, 'caller'>) => {
  if (!caller) throw new DomainError('TOKEN_INVALID');
  return caller;
};

/** Anyone; whoever has a valid token is known by it. */
export const anyoneRecognized = {
  caller: 'anyone',
  checks: [recognize()],
} as const satisfies Access;

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

/** The user of the path, or an admin. */
export const selfOrAdmin = {
  caller: 'self',
  checks: [authenticate(), authorize(isSelfOrAdmin)],
} as const satisfies Access;

/** Any valid token; while accounts are private, only that of an admin. */
export const usersMayCreate = {
  caller: 'user',
  checks: [authenticate(), authorize(mayCreate)],
} as const satisfies Access;

/** Any valid token; while accounts are private, only that of the user of the path or of an admin. */
export const usersMayRead = {
  caller: 'reader',
  checks: [authenticate(), authorize(mayRead)],
} as const satisfies Access;

/** The same, where a change then requires that the caller is the user, an admin, or made the user. */
export const usersMayChange = {
  caller: 'maker',
  checks: [authenticate(), authorize(mayRead)],
} as const satisfies Access;
