/** Endpoints for callers with a token: the token is checked (401) before the role (403). */
import { belongingOf, verifyToken } from '../auth/token.ts';
import type { Caller, Contract } from '../contract/contract.ts';
import { DomainError, type ErrorCode } from '../errors.ts';
import { config, hasSessions } from '../settings.ts';
import { findBearer } from '../users/bearer.ts';
import { roleInForce, type StoredUser, toUser } from '../users/items.ts';
import { findStoredUser } from '../users/store.ts';
import type { User } from '../users/user.ts';
import { askingOf, endpoint } from './endpoint.ts';
import type {
  ApiResponse,
  AuthenticatedRequest,
  Handler,
  IncomingEvent,
  Middleware,
  RequestTo,
} from './request.ts';

const scheme = 'Bearer ';

/** The token of a request. @throws {DomainError} NO_TOKEN */
export const bearerToken = ({ headers }: Pick<IncomingEvent, 'headers'>): string => {
  const header: string | undefined = headers?.authorization;
  if (!header?.startsWith(scheme)) throw new DomainError('NO_TOKEN');
  return header.slice(scheme.length);
};

/**
 * The user with an id, as last written, or undefined. Callers who ask for themselves are not read again.
 * @throws {DomainError} STORAGE_FAULT
 */
export const findStoredFor = async (
  { bearer }: Pick<AuthenticatedRequest, 'bearer'>,
  id: number,
): Promise<StoredUser | undefined> => (bearer?.id === id ? bearer : findStoredUser(id));

/** The same as the caller may see it. @throws {DomainError} STORAGE_FAULT */
export const findUserFor = async (
  request: Pick<AuthenticatedRequest, 'bearer' | 'claims'>,
  id: number,
): Promise<User | undefined> => {
  const user = await findStoredFor(request, id);
  return user && toUser(user, request.claims);
};

/**
 * Authenticates the caller and puts the token's claims at `event.claims`. Where there are sessions, it
 * puts the stored user at `event.bearer`, and that user's role in force into the claims. Rejects with
 * NO_TOKEN, TOKEN_EXPIRED or TOKEN_INVALID, with STORAGE_FAULT when the session cannot be read, or with
 * what {@link verifyToken} throws when no secret can be read. A later FORBIDDEN becomes
 * SECOND_FACTOR_REQUIRED for admins who lack a second factor.
 */
const authenticate = ({ evenIfDeleted }: Pick<Contract, 'evenIfDeleted'>): Middleware => {
  const authenticateBefore: NonNullable<Middleware['before']> = async ({ event }) => {
    const token = bearerToken(event);
    const claims = await verifyToken(token);
    event.claims = claims;
    if (!hasSessions(config)) return;
    const bearer = await findBearer(claims.id, belongingOf(token));
    if (!bearer && !evenIfDeleted) throw new DomainError('TOKEN_INVALID');
    if (bearer) Object.assign(event, { bearer, claims: { ...claims, role: roleInForce(bearer) } });
  };

  const authenticateOnError: NonNullable<Middleware['onError']> = (request) => {
    const { error, event } = request;
    if (error instanceof DomainError && error.code === 'FORBIDDEN' && askingOf(event).lacksFactor) {
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
const recognize = (): Middleware => {
  const { before } = authenticate({});
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
const mayRead = (request: AuthenticatedRequest) =>
  config.accounts === 'open' || isSelfOrAdmin(request);

/**
 * The caller as stored, for endpoints that exist only where there are sessions.
 * @throws {DomainError} TOKEN_INVALID
 */
export const requireBearer = ({ bearer }: Pick<AuthenticatedRequest, 'bearer'>) => {
  if (!bearer) throw new DomainError('TOKEN_INVALID');
  return bearer;
};

/** Whether a request may be made, by the contract's `caller` (lib/contract/contract.ts). */
const rules: Readonly<Record<Caller, (request: AuthenticatedRequest) => boolean>> = {
  anyone: () => true,
  user: () => true,
  creator: (request) => config.accounts === 'open' || isAdmin(request),
  reader: mayRead,
  // A change then requires that the caller is the user, an admin, or made the user.
  maker: mayRead,
  self: isSelfOrAdmin,
  admin: isAdmin,
};

type ProtectedContract = Contract &
  ({ readonly caller: Exclude<Caller, 'anyone'> } | { readonly takesToken: true });

/** An endpoint for callers with a token; or for anyone, where a token is read if there is one. */
export const protectedEndpoint = <const C extends ProtectedContract>(
  contract: C,
  handle: (request: RequestTo<C>) => Promise<ApiResponse> | ApiResponse,
): Handler => {
  const { caller, takesToken } = contract as Contract;
  const checks = takesToken ? [recognize()] : [authenticate(contract), authorize(rules[caller])];
  return endpoint(contract, checks, handle);
};
