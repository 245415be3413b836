import middy from '@middy/core';
import httpErrorHandler from '@middy/http-error-handler';
import { jsonBody } from './json-body.ts';
import type {
  ApiRequest,
  ApiResponse,
  AuthenticatedRequest,
  Handler,
  IncomingEvent,
  Middleware,
} from './request.ts';
import { mapErrors, render, type StorageFault } from './response.ts';

/** Who may call an endpoint that asks for a token: authentication, and what follows it. */
export type ProtectedAccess = readonly [Middleware, ...Middleware[]];
type Access = readonly [] | ProtectedAccess;

type RequestUnder<A extends Access> = A extends readonly [] ? ApiRequest : AuthenticatedRequest;

export interface EndpointOptions<A extends Access = Access> {
  /** Who may call it: {@link anyone}, or one of lib/http/access.ts. */
  readonly access: A;
  /** Whether a JSON object is expected as the body. */
  readonly body?: 'json';
  /** What a 500 says when the store fails. */
  readonly storageFault?: StorageFault | undefined;
}

/** Access without a token: the handler is given no claims. */
export const anyone = [] as const;

/**
 * The one middleware stack, around one endpoint's work. `before` runs down the list: token (401),
 * role (403), body (400). `onError` runs up it: map, handle, render.
 */
export const endpoint = <A extends Access>(
  options: EndpointOptions<A>,
  handle: (request: RequestUnder<A>) => Promise<ApiResponse> | ApiResponse,
): Handler => {
  const stack = middy<IncomingEvent, unknown>()
    .use(render())
    .use(httpErrorHandler({ logger: false }))
    .use(mapErrors({ storageFault: options.storageFault }))
    .use([...options.access, ...(options.body === 'json' ? jsonBody() : [])]);
  return stack.handler((event) => handle(event as RequestUnder<A>)) as unknown as Handler;
};
