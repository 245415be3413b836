/** Checks requests by their contracts, and makes the only middleware stack around handlers. */
import middy from '@middy/core';
import httpErrorHandler from '@middy/http-error-handler';
import * as v from 'valibot';
import type { Contract, Uncounted } from '../contract/contract.ts';
import { type FieldFault, invalidParameter } from '../ground/errors.ts';
import { config, requirePassedOn } from '../ground/settings.ts';
import { type Fields, parseBody, validate } from '../ground/validation.ts';
import { parseUserId } from '../users/user.ts';
import { fieldsOf, jsonBody } from './body.ts';
import { fromEdge } from './edge.ts';
import {
  type ApiResponse,
  type EndpointHandler,
  type Handler,
  type IncomingEvent,
  type Middleware,
  type RequestTo,
  sourceOf,
} from './request.ts';
import { mapErrors, render } from './response.ts';

/** @param first is called before the body is read, and refuses a request by an error */
export function publicEndpoint<const C extends Contract & Uncounted & { readonly may: 'public' }>(
  contract: C,
  handle: (request: RequestTo<C>) => Promise<ApiResponse> | ApiResponse,
  first?: (event: IncomingEvent) => void,
): EndpointHandler {
  const checks = first ? [{ before: ({ event }: { event: IncomingEvent }) => first(event) }] : [];
  return endpoint(contract, checks, handle);
}

type Permit = (event: IncomingEvent, given: Fields) => void;

/**
 * The one middleware stack, around the handler of an endpoint. The checks run in their order: settings that only a
 * deployment knows (500), CloudFront (403), token (401), role (403), body and query (400), id (404). An error passes
 * from the last `use` to the first: mapErrors turns it into an HTTP error, httpErrorHandler turns that error into a
 * response, and render adds the headers of the response.
 * @param checks middlewares that throw for callers who may not call the endpoint
 * @param permit throws if the caller may not send the fields of the request
 */
export function endpoint<const C extends Contract>(
  contract: C,
  checks: readonly Middleware[],
  handle: (request: RequestTo<C>) => Promise<ApiResponse> | ApiResponse,
  permit?: Permit,
): EndpointHandler {
  const body = (contract as Contract).body ? jsonBody() : [];
  const stack = middy<IncomingEvent, unknown>()
    .use(render())
    .use(httpErrorHandler({ logger: false }))
    .use(mapErrors(contract))
    .use([
      { before: requirePassedOn },
      fromEdge(),
      ...checks,
      ...body,
      checkInput(contract, permit),
    ]);
  const handler = stack.handler((event) => {
    const request = {
      ...event,
      get source() {
        return sourceOf(event);
      },
    };
    return handle(request as RequestTo<C>);
  }) as unknown as Handler;
  return Object.assign(handler, { route: contract.route });
}

/** The body of a request, parsed by its contract. */
export function checkBody(
  contract: Contract,
  fields: Fields,
  event: IncomingEvent,
  permit?: Permit,
): unknown {
  permit?.(event, fields);
  // The policy has refused the fields of admins that a machine may not send.
  const role = event.machine ? 'admin' : (event.claims?.role ?? 'user');
  const schema = contract.body?.(config, role, fields);
  return schema && parseBody(schema, fields, contract);
}

/**
 * The values of the query parameters of a request.
 * @throws {DomainError} PARAMETER_INVALID naming the first parameter that breaks its rule or, if the contract refuses
 *   unknown parameters, an unknown parameter: a client would believe that an ignored filter was applied; and the errors
 *   of `permit`
 */
export function checkQuery(contract: Contract, event: IncomingEvent, permit?: Permit): unknown {
  const { query, refusesOtherParameters } = contract;
  const { headers, queryStringParameters = {}, rawQueryString } = event;
  const entries = query?.(headers.accept, config) ?? {};
  const given = refusesOtherParameters
    ? readKnown(Object.keys(entries), rawQueryString)
    : queryStringParameters;
  permit?.(event, given);
  const validated = validate(v.object(entries), given);
  if ('output' in validated) return validated.output;
  const [{ field, rule }] = validated.faults as readonly [FieldFault];
  throw invalidParameter(field, rule);
}

function checkInput(contract: Contract, permit: Permit | undefined): Middleware {
  const checkInputBefore: NonNullable<Middleware['before']> = ({ event }) => {
    if (contract.body) event.body = checkBody(contract, fieldsOf(event.body), event, permit);
    if (contract.query) event.query = checkQuery(contract, event, permit);
    if (contract.route.includes('{id}')) event.id = parseUserId(event.pathParameters?.id);
  };

  return { before: checkInputBefore };
}

/** Reads the raw query, because the gateway joins repeated values. */
function readKnown(names: readonly string[], rawQueryString: string) {
  const given = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(rawQueryString)) {
    if (!names.includes(name)) {
      const known =
        names.length > 0 ? `the parameters are ${names.join(', ')}` : 'there are no parameters';
      throw invalidParameter(name || 'A parameter without a name', `is unknown; ${known}`);
    }
    if (given.has(name)) throw invalidParameter(name, 'must be given only once');
    given.set(name, value);
  }
  return Object.fromEntries(given);
}
