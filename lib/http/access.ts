/**
 * Endpoints for callers with a token: the token is checked first (401), and then the permission of the caller (403).
 */
import {
  type Asking,
  type Caller,
  type PublicOperation,
  requireAllowed,
  standingOf,
} from '../accounts/policy.ts';
import type { Contract } from '../contract/contract.ts';
import { DomainError, type ErrorCode } from '../ground/errors.ts';
import { config, hasMachines, hasSessions } from '../ground/settings.ts';
import type { Fields } from '../ground/validation.ts';
import { belongingOf, verifyToken } from '../keys/token.ts';
import { keyPrefix } from '../options/machines/key.ts';
import { findMachine, noteUse } from '../options/machines/machine.ts';
import { findBearer } from '../options/sessions/bearer.ts';
import { fromBackend } from './backend.ts';
import { endpoint } from './endpoint.ts';
import type {
  ApiResponse,
  AuthenticatedRequest,
  EndpointHandler,
  IncomingEvent,
  Middleware,
  RequestTo,
  SharedRequest,
} from './request.ts';

type ProtectedContract = Contract & { readonly may: Exclude<Contract['may'], PublicOperation> };

/** @param first throws to refuse a request of a caller who is allowed, or changes it, before its body is read */
export function protectedEndpoint<const C extends ProtectedContract>(
  contract: C,
  handle: (request: RequestTo<C>) => Promise<ApiResponse> | ApiResponse,
  first: (event: IncomingEvent) => void = () => undefined,
): EndpointHandler {
  const permit = permitOf(contract);
  const authorizeBefore = ({ event }: { event: IncomingEvent }) => {
    permit(event);
    first(event);
  };
  const checks = [fromBackend(contract), authenticate(contract), { before: authorizeBefore }];
  return endpoint(contract, checks, handle, permit);
}

/** An endpoint for anyone. The policy decides which fields may be sent. */
export function permittingEndpoint<const C extends Contract & { readonly may: PublicOperation }>(
  contract: C,
  handle: (request: RequestTo<C>) => Promise<ApiResponse> | ApiResponse,
): EndpointHandler {
  return endpoint(contract, [fromBackend(contract)], handle, permitOf(contract));
}

/** An endpoint for anyone. If there is a token, it is read. */
export function recognisingEndpoint<const C extends Contract & { readonly takesToken: true }>(
  contract: C,
  handle: (request: RequestTo<C>) => Promise<ApiResponse> | ApiResponse,
): EndpointHandler {
  return endpoint(contract, [fromBackend(contract), recognise()], handle);
}

const scheme = 'Bearer ';

/** The token of a request. @throws {DomainError} NO_TOKEN */
export function tokenIn({ headers }: Pick<IncomingEvent, 'headers'>): string {
  const header: string | undefined = headers?.authorization;
  if (!header?.startsWith(scheme)) throw new DomainError('NO_TOKEN');
  return header.slice(scheme.length);
}

export function callerOf({ claims, machine }: Pick<SharedRequest, 'claims' | 'machine'>): Caller {
  return machine ? { scopes: machine.scopes } : { ...claims };
}

/** The caller as stored, where there are sessions. @throws {DomainError} TOKEN_INVALID */
export function requireBearer({ bearer }: Pick<AuthenticatedRequest, 'bearer'>) {
  if (!bearer) throw new DomainError('TOKEN_INVALID');
  return bearer;
}

/** A request of callers about themselves, where there are sessions. @throws {DomainError} TOKEN_INVALID */
export function ownRequest<Body extends object>(
  request: AuthenticatedRequest & { readonly body: Body },
) {
  const { body, source } = request;
  return { ...body, caller: requireBearer(request), source };
}

function permitOf({ may }: Contract) {
  return (event: IncomingEvent, given?: Fields) => requireAllowed(may, askingOf(event), given);
}

/** The caller in the form for the policy, before the user whom the request concerns is read. */
function askingOf(event: IncomingEvent): Asking {
  const { claims, pathParameters } = event;
  // A machine is never the user that a path names, and is never the maker of a user.
  const isSelf = claims !== undefined && pathParameters?.id === String(claims.id);
  return { ...callerOf(event), isSelf, mayBeMaker: claims !== undefined && !isSelf };
}

const tokenFaults: readonly ErrorCode[] = ['NO_TOKEN', 'TOKEN_EXPIRED', 'TOKEN_INVALID'];

/** Authenticates a caller who has a valid token; requests of all other callers go on without claims. */
function recognise(): Middleware {
  const recogniseBefore: NonNullable<Middleware['before']> = async ({ event }) => {
    try {
      Object.assign(event, await userOf(event, {}));
    } catch (error) {
      if (!(error instanceof DomainError) || !tokenFaults.includes(error.code)) throw error;
    }
  };

  return { before: recogniseBefore };
}

/** Where there are sessions, the claims contain the standing of the stored user. */
async function userOf(
  event: IncomingEvent,
  { evenIfDeleted }: Pick<Contract, 'evenIfDeleted'>,
): Promise<Pick<IncomingEvent, 'claims' | 'bearer'>> {
  const token = tokenIn(event);
  const claims = await verifyToken(token);
  if (!hasSessions(config)) return { claims };
  const bearer = await findBearer(claims.id, belongingOf(token));
  if (!bearer && !evenIfDeleted) throw new DomainError('TOKEN_INVALID');
  return bearer ? { bearer, claims: { ...claims, ...standingOf(bearer) } } : { claims };
}

function authenticate(contract: Contract): Middleware {
  const authenticateBefore: NonNullable<Middleware['before']> = async ({ event }) => {
    Object.assign(event, (await machineOf(event)) ?? (await userOf(event, contract)));
  };

  return { before: authenticateBefore };
}

/** The machine that calls, by a key in place of a token, whose use is noted. */
async function machineOf(
  event: IncomingEvent,
): Promise<Pick<IncomingEvent, 'machine' | 'noting'> | undefined> {
  const key = tokenIn(event);
  if (!hasMachines(config) || !key.startsWith(keyPrefix)) return undefined;
  const machine = await findMachine(key);
  if (!machine) throw new DomainError('TOKEN_INVALID');
  return { machine, noting: Promise.all([event.noting, noteUse(machine)]) };
}
