import middy from '@middy/core';
import httpErrorHandler from '@middy/http-error-handler';
import type { Caller, Operation } from '../contract/operation.ts';
import { jsonBody } from './json-body.ts';
import type {
  ApiRequest,
  ApiResponse,
  AuthenticatedRequest,
  Handler,
  IncomingEvent,
  Middleware,
} from './request.ts';
import { mapErrors, render } from './response.ts';

/** The callers of an endpoint, and the checks that let only them pass: see lib/http/access.ts. */
export interface Access {
  readonly caller: Caller;
  readonly checks: readonly Middleware[];
}

type RequestOf<O extends Operation> = O['caller'] extends 'anyone'
  ? ApiRequest
  : AuthenticatedRequest;

/** Access without a token: the handler gets no claims. */
export const anyone = { caller: 'anyone', checks: [] } as const satisfies Access;

/**
 * The one middleware stack, around one endpoint's work. `before` runs down the list: token (401),
 * role (403), body (400). `onError` runs up it: map, handle, render.
 * @param access the checks that the operation's caller must pass
 */
export const endpoint = <O extends Operation>(
  { body, storageFault }: O,
  access: Access & { readonly caller: O['caller'] },
  handle: (request: RequestOf<O>) => Promise<ApiResponse> | ApiResponse,
): Handler => {
  const stack = middy<IncomingEvent, unknown>()
    .use(render())
    .use(httpErrorHandler({ logger: false }))
    .use(mapErrors({ storageFault }))
    .use([...access.checks, ...(body ? jsonBody() : [])]);
  return stack.handler((event) => handle(event as RequestOf<O>)) as unknown as Handler;
};
