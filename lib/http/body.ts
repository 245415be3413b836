/** The JSON object of a request's body (functions/README.md, Input). */
import httpJsonBodyParser from '@middy/http-json-body-parser';
import { DomainError } from '../errors.ts';
import type { Fields } from '../validation.ts';
import type { IncomingEvent } from './request.ts';

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
  const value = parse(isBase64Encoded ? decode(body) : body);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new DomainError('BODY_NOT_OBJECT');
  }
  // An object without a prototype inherits no field.
  return Object.assign(Object.create(null), value);
};
