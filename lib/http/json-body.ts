import httpJsonBodyParser from '@middy/http-json-body-parser';
import { DomainError, type ErrorCode } from '../errors.ts';
import type { Middleware } from './request.ts';

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

/** What @middy/http-json-body-parser throws. */
interface ParserError {
  readonly message?: string;
  readonly cause?: { readonly package?: string; readonly message?: string };
}

const parserCode = (message: string | undefined, reason: string | undefined): ErrorCode => {
  if (message === 'Forbidden key in JSON body') return 'BODY_FORBIDDEN_KEY';
  // The parser descends by recursion; these are V8's words when the stack ends first.
  return reason === 'Maximum call stack size exceeded' ? 'BODY_TOO_DEEP' : 'BODY_MALFORMED';
};

/**
 * Leaves the request's JSON object at `event.body`; a request without a body has an empty one. The
 * parsing is
 * @middy/http-json-body-parser's; before it, what it would decode leniently is refused (and the
 * media type checked, so that an upload hears of its type, not of its bytes), then what is too
 * large, and after it, whatever is not an object.
 */
export const jsonBody = (): Middleware[] => {
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
    // No field is ever inherited from a prototype.
    event.body = Object.assign(Object.create(null), body);
  };

  return [
    { before: decodeBodyBefore, onError: nameFaultOnError },
    httpJsonBodyParser({ disableContentTypeCheck: true }) as Middleware,
    { before: requireObjectBefore },
  ];
};
