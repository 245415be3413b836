import middy from '@middy/core';
import httpErrorHandler from '@middy/http-error-handler';
import httpJsonBodyParser from '@middy/http-json-body-parser';
import type { Caller, Operation } from '../contract/operation.ts';
import { DomainError, type ErrorCode } from '../errors.ts';
import type {
  ApiRequest,
  ApiResponse,
  AuthenticatedRequest,
  Handler,
  IncomingEvent,
  Middleware,
} from './request.ts';
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

/** The error that http-json-body-parser throws. */
interface ParserError {
  readonly message?: string;
  readonly cause?: { readonly package?: string; readonly message?: string };
}

const parserCode = (message: string | undefined, reason: string | undefined): ErrorCode => {
  if (message === 'Forbidden key in JSON body') return 'BODY_FORBIDDEN_KEY';
  // The parser is recursive. This is V8's message when the stack is too small for it.
  return reason === 'Maximum call stack size exceeded' ? 'BODY_TOO_DEEP' : 'BODY_MALFORMED';
};

/**
 * Puts the JSON object of a request at `event.body`, an empty one if there is no body. The package
 * http-json-body-parser parses it. Before that, the media type, the size and the encoding are
 * checked, in this order: an upload is refused for its type, not for its bytes. After it, anything
 * but an object is refused.
 */
const jsonBody = (): Middleware[] => {
  const decodeBodyBefore: NonNullable<Middleware['before']> = ({ event }) => {
    if (typeof event.body !== 'string' || !event.body) {
      Object.assign(event, { body: '{}', isBase64Encoded: false });
      return;
    }
    if (!jsonMediaType.test(event.headers?.['content-type'] ?? '')) {
      throw new DomainError('BODY_MEDIA_TYPE');
    }
    requireSmall(event.body, event.isBase64Encoded ? 'base64' : 'utf8');
    if (event.isBase64Encoded) event.body = decode(event.body);
    event.isBase64Encoded = false;
  };

  const nameFaultOnError: NonNullable<Middleware['onError']> = (request) => {
    const { message, cause } = request.error as ParserError;
    if (cause?.package !== '@middy/http-json-body-parser') return;
    request.error = new DomainError(parserCode(message, cause.message));
  };

  const requireObjectBefore: NonNullable<Middleware['before']> = ({ event }) => {
    const { body } = event;
    if (typeof body !== 'object' || body === null || Array.isArray(body)) {
      throw new DomainError('BODY_NOT_OBJECT');
    }
    // An object without a prototype inherits no field.
    event.body = Object.assign(Object.create(null), body);
  };

  return [
    { before: decodeBodyBefore, onError: nameFaultOnError },
    httpJsonBodyParser({ disableContentTypeCheck: true }) as Middleware,
    { before: requireObjectBefore },
  ];
};

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
