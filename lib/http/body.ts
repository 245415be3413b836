/** The JSON object of a request's body (functions/README.md, Input). */
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

/** Values within values, which takes stack. */
const maxDepth = 1000;

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

/** Refuses keys that could change a prototype where objects are merged. */
const requirePlain = (value: unknown, depth = 0): void => {
  if (!isObject(value)) return;
  if (depth > maxDepth) throw new DomainError('BODY_TOO_DEEP');
  for (const [key, part] of Object.entries(value)) {
    const isForbidden =
      key === '__proto__' ||
      (key === 'constructor' && isObject(part) && Object.hasOwn(part, 'prototype'));
    if (isForbidden) throw new DomainError('BODY_FORBIDDEN_KEY');
    requirePlain(part, depth + 1);
  }
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw new DomainError('BODY_MALFORMED');
  }
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
  requirePlain(value);
  if (!isObject(value) || Array.isArray(value)) throw new DomainError('BODY_NOT_OBJECT');
  // An object without a prototype inherits no field.
  return Object.assign(Object.create(null), value);
};
