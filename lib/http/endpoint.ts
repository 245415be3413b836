/** How a request is checked by its contract, and the one middleware stack around its handler. */
import middy from '@middy/core';
import httpErrorHandler from '@middy/http-error-handler';
import httpJsonBodyParser from '@middy/http-json-body-parser';
import * as v from 'valibot';
import type { Asking, Contract } from '../contract/contract.ts';
import { DomainError, type FieldFault, invalidParameter } from '../errors.ts';
import { parseUserId } from '../users/user.ts';
import { type Fields, parseBody, validate } from '../validation.ts';
import { fromEdge } from './edge.ts';
import type { ApiResponse, Handler, IncomingEvent, Middleware, RequestTo } from './request.ts';
import { mapErrors, render } from './response.ts';

const jsonMediaType = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/**
 * Bytes: several times what the longest fields take. The parser looks at every value for forbidden
 * keys, which takes half a second of processor time for a megabyte of small values.
 */
const maxBody = 64 * 1024;

const requireSmall = (body: string, encoding: 'base64' | 'utf8'): void => {
  if (Buffer.byteLength(body, encoding) > maxBody) throw new DomainError('BODY_TOO_LARGE');
};

const base64 = /^[A-Za-z0-9+/]*={0,2}$/;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

const decode = (body: string): string => {
  if (!base64.test(body)) throw new DomainError('BODY_ENCODING');
  try {
    return utf8.decode(Buffer.from(body, 'base64'));
  } catch {
    throw new DomainError('BODY_ENCODING');
  }
};

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

/** The error that http-json-body-parser throws; a key that it forbids is no fault of the parser. */
interface ParserError {
  readonly cause?: { readonly message?: string };
}

const parser = httpJsonBodyParser({ disableContentTypeCheck: true });

/** Parses JSON, and refuses keys that could change a prototype where objects are merged. */
const parse = (body: string): unknown => {
  const request = { event: { body, headers: {}, isBase64Encoded: false } };
  try {
    parser.before?.(request as never);
  } catch (error) {
    if ((error as ParserError).cause?.message === undefined) {
      throw new DomainError('BODY_FORBIDDEN_KEY');
    }
    // The search for such keys is recursive, and needs more stack than the parser of the language.
    throw new DomainError(isJson(body) ? 'BODY_TOO_DEEP' : 'BODY_MALFORMED');
  }
  return request.event.body;
};

/**
 * The object of a body, an empty one if there is no body. The media type, the size and the encoding
 * are checked in this order before the content: an upload is refused for its type, not for its bytes.
 * @throws {DomainError} the codes that begin with BODY
 */
export const readBody = ({ body, headers, isBase64Encoded }: IncomingEvent): Fields => {
  if (typeof body !== 'string' || body === '') return {};
  if (!jsonMediaType.test(headers?.['content-type'] ?? ''))
    throw new DomainError('BODY_MEDIA_TYPE');
  requireSmall(body, isBase64Encoded ? 'base64' : 'utf8');
  // A byte order mark is no fault; the decoder takes it away.
  const value = parse(isBase64Encoded ? decode(body) : body.replace(/^\ufeff/, ''));
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new DomainError('BODY_NOT_OBJECT');
  }
  // An object without a prototype inherits no field.
  return Object.assign(Object.create(null), value);
};

/** Who asks, as contracts look at it. */
export const askingOf = ({
  claims,
  bearer,
  pathParameters,
}: Pick<IncomingEvent, 'claims' | 'bearer' | 'pathParameters'>): Asking => {
  const role = claims?.role ?? 'user';
  const isSelf = pathParameters?.id === String(claims?.id);
  return { role, isSelf, lacksFactor: bearer !== undefined && bearer.role !== role };
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
      const known =
        names.length > 0 ? `the parameters are ${names.join(', ')}` : 'there are no parameters';
      const rule = `is unknown; ${known}`;
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
