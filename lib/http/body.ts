/** The checks before and after the parser of JSON bodies (functions/README.md, Order of checks). */
import httpJsonBodyParser from '@middy/http-json-body-parser';
import { DomainError } from '../ground/errors.ts';
import type { Fields } from '../ground/validation.ts';
import type { IncomingEvent, Middleware } from './request.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

export function jsonBody(): readonly Middleware[] {
  return [checkBytes(), httpJsonBodyParser({ disableContentTypeCheck: true }) as Middleware];
}

/** The fields of a parsed body. @throws {DomainError} BODY_NOT_OBJECT */
export function fieldsOf(body: unknown): Fields {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new DomainError('BODY_NOT_OBJECT');
  }
  // An object without a prototype inherits no field.
  return Object.assign(Object.create(null), body);
}

interface ParserCause {
  readonly package?: string;
  readonly data: string;
  readonly message?: string;
}

/**
 * Checks media type, size and encoding in this order before the content is parsed, so that an upload is refused because
 * of its type and not because of its bytes. An empty body counts as an empty object. All errors, including the errors
 * of the parser, have codes that begin with BODY.
 */
function checkBytes(): Middleware {
  const checkBytesBefore: NonNullable<Middleware['before']> = ({ event }) => {
    event.body = event.body ? textOf(event) : '{}';
    event.isBase64Encoded = false;
  };

  const checkBytesOnError: NonNullable<Middleware['onError']> = (request) => {
    const cause = request.error?.cause as ParserCause | undefined;
    if (cause?.package !== '@middy/http-json-body-parser') return;
    request.error = new DomainError(codeOf(cause));
  };

  return { before: checkBytesBefore, onError: checkBytesOnError };
}

const jsonMediaType = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/**
 * Bytes: several times the size of the longest fields. The parser looks at every value for forbidden keys, which takes
 * half a second of processor time for a megabyte of small values.
 */
const maxBody = 64 * 1024;

function textOf({ body, headers, isBase64Encoded }: IncomingEvent): string {
  const text = body as string;
  if (!jsonMediaType.test(headers?.['content-type'] ?? '')) {
    throw new DomainError('BODY_MEDIA_TYPE');
  }
  if (Buffer.byteLength(text, isBase64Encoded ? 'base64' : 'utf8') > maxBody) {
    throw new DomainError('BODY_TOO_LARGE');
  }
  // A byte order mark is allowed; the decoder removes it.
  return isBase64Encoded ? decode(text) : text.replace(/^\ufeff/, '');
}

const base64 = /^[A-Za-z0-9+/]*={0,2}$/;

function decode(body: string): string {
  if (!base64.test(body)) throw new DomainError('BODY_ENCODING');
  try {
    return utf8.decode(Buffer.from(body, 'base64'));
  } catch {
    throw new DomainError('BODY_ENCODING');
  }
}

function codeOf({ data, message }: ParserCause) {
  if (message === undefined) return 'BODY_FORBIDDEN_KEY';
  // The search for forbidden keys is recursive, and needs more stack than `JSON.parse`.
  return isJson(data) ? 'BODY_TOO_DEEP' : 'BODY_MALFORMED';
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
