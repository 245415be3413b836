import middy from '@middy/core';
import httpErrorHandler from '@middy/http-error-handler';
import * as v from 'valibot';
import type { Contract } from '../contract/contract.ts';
import { DomainError, type FieldFault, invalidParameter } from '../errors.ts';
import { parseUserId } from '../users/user.ts';
import { type Fields, parseBody, validate } from '../validation.ts';
import { readBody } from './body.ts';
import { fromEdge } from './edge.ts';
import type { ApiResponse, Handler, IncomingEvent, Middleware, RequestTo } from './request.ts';
import { mapErrors, render } from './response.ts';

/** The caller of a request, as contracts look at it. */
const askingOf = ({ claims, caller, pathParameters }: IncomingEvent) => {
  const role = claims?.role ?? 'user';
  const isSelf = pathParameters?.id === String(claims?.id);
  return { role, isSelf, lacksFactor: caller !== undefined && caller.role !== role };
};

/** @throws {DomainError} FORBIDDEN where the caller may not ask for what is given */
const requirePermission = ({ permits }: Contract, given: Fields, event: IncomingEvent): void => {
  if (permits?.(given, askingOf(event)) === false) throw new DomainError('FORBIDDEN');
};

/**
 * The body of a request as its contract has it.
 * @throws {DomainError} FORBIDDEN where the caller may not ask for it, and the errors of its rules
 */
export const checkBody = (contract: Contract, fields: Fields, event: IncomingEvent): unknown => {
  requirePermission(contract, fields, event);
  return contract.body && parseBody(contract.body(askingOf(event).role), fields, contract);
};

/** Reads the raw query, because the gateway joins repeated values. */
const readKnown = (names: readonly string[], rawQueryString: string) => {
  const given = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(rawQueryString)) {
    if (!names.includes(name)) {
      const rule = `is unknown; the parameters are ${names.join(', ')}`;
      throw invalidParameter(name || 'A parameter without a name', rule);
    }
    if (given.has(name)) throw invalidParameter(name, 'must be given only once');
    given.set(name, value);
  }
  return Object.fromEntries(given);
};

/**
 * The values of the query parameters of a request.
 * @throws {DomainError} FORBIDDEN where the caller may not ask for it; PARAMETER_INVALID naming the first that
 *   breaks its rule; where unknown ones are refused, because a client would take an ignored filter for one
 *   that was applied, also for them
 */
export const checkQuery = (contract: Contract, event: IncomingEvent): unknown => {
  const { query, refusesOtherParameters } = contract;
  const { headers, queryStringParameters = {}, rawQueryString } = event;
  const entries = query?.(headers.accept) ?? {};
  const given = refusesOtherParameters
    ? readKnown(Object.keys(entries), rawQueryString)
    : queryStringParameters;
  if (!contract.body) requirePermission(contract, given, event);
  const validated = validate(v.object(entries), given);
  if ('output' in validated) return validated.output;
  const [{ field, rule }] = validated.faults as readonly [FieldFault];
  throw invalidParameter(field, rule);
};

/** Checks a request by its contract, and puts what comes out into the event. */
const checkInput = (contract: Contract): Middleware => {
  const checkInputBefore: NonNullable<Middleware['before']> = ({ event }) => {
    if (contract.body) event.body = checkBody(contract, readBody(event), event);
    if (contract.query) event.query = checkQuery(contract, event);
    if (contract.route.includes('{id}')) event.id = parseUserId(event.pathParameters?.id);
  };

  return { before: checkInputBefore };
};

/**
 * The one middleware stack, around one endpoint's work. `before` runs down the list: CloudFront (403), token (401),
 * role (403), body and query (400), id (404). `onError` runs up it: map, handle, render.
 * @param checks let only those pass who may call
 */
export const endpoint = <const C extends Contract>(
  contract: C,
  checks: readonly Middleware[],
  handle: (request: RequestTo<C>) => Promise<ApiResponse> | ApiResponse,
): Handler => {
  const stack = middy<IncomingEvent, unknown>()
    .use(render())
    .use(httpErrorHandler({ logger: false }))
    .use(mapErrors(contract))
    .use([fromEdge(), ...checks, checkInput(contract)]);
  return stack.handler((event) => handle(event as RequestTo<C>)) as unknown as Handler;
};

/** An endpoint for anyone. @param first throws for what is refused before the body is looked at */
export const publicEndpoint = <const C extends Contract & { readonly caller: 'anyone' }>(
  contract: C,
  handle: (request: RequestTo<C>) => Promise<ApiResponse> | ApiResponse,
  first?: (event: IncomingEvent) => void,
): Handler => endpoint(contract, first ? [{ before: ({ event }) => first(event) }] : [], handle);
