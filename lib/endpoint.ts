import middy, { type MiddlewareObj } from '@middy/core';
import httpErrorHandler from '@middy/http-error-handler';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { FaultField } from './errors.ts';
import { answer } from './middleware/answer.ts';
import { domainErrorMapper } from './middleware/domain-error-mapper.ts';
import { jsonBody } from './middleware/json-body.ts';
import type { Claims } from './tokens/token.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

/** The gateway's event (payload format 2.0) while the stack runs. */
type IncomingEvent = Omit<APIGatewayProxyEventV2, 'body'> & {
  body?: unknown;
  claims?: Claims;
};

export type Middleware = MiddlewareObj<IncomingEvent>;

/** What a handler is given: the event after the stack has run. */
export type ApiRequest = Omit<APIGatewayProxyEventV2, 'body'> & {
  /** The parsed body; empty unless the endpoint asked for one. */
  readonly body: JsonObject;
};

/** The same where a token was asked for. */
export type AuthenticatedRequest = ApiRequest & {
  /** The caller. */
  readonly claims: Claims;
};

export interface ApiResponse {
  readonly statusCode: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Serialised as JSON; absent for a 204. */
  readonly body?: unknown;
}

/** Who may call an endpoint that asks for a token: authentication, and what follows it. */
export type ProtectedAccess = readonly [Middleware, ...Middleware[]];
type Access = readonly [] | ProtectedAccess;

type RequestUnder<A extends Access> = A extends readonly [] ? ApiRequest : AuthenticatedRequest;

export interface EndpointOptions<A extends Access = Access> {
  /** Who may call it: {@link anyone}, or one of lib/access.ts. */
  readonly access: A;
  /** Whether a JSON object is expected as the body. */
  readonly body?: 'json';
  /** What a 500 says when the store fails (spec, Endpoints). */
  readonly storageFault?: readonly [message: string, field: FaultField] | undefined;
}

export type Handler = (
  event: APIGatewayProxyEventV2,
  context: unknown,
) => Promise<APIGatewayProxyStructuredResultV2>;

/** Access without a token: the handler is given no claims. */
export const anyone = [] as const;

/**
 * The one middleware stack, around one endpoint's work. `before` runs down the list: token (401),
 * role (403), body (400). `onError` runs up it: map, render, add the common headers.
 */
export const endpoint = <A extends Access>(
  options: EndpointOptions<A>,
  handle: (request: RequestUnder<A>) => Promise<ApiResponse> | ApiResponse,
): Handler => {
  const stack = middy<IncomingEvent, unknown>()
    .use(answer())
    .use(httpErrorHandler({ logger: false }))
    .use(domainErrorMapper({ storageFault: options.storageFault }))
    .use([...options.access, ...(options.body === 'json' ? jsonBody() : [])]);
  return stack.handler((event) => handle(event as RequestUnder<A>)) as unknown as Handler;
};
