import { createHmac, timingSafeEqual } from 'node:crypto';
import * as v from 'valibot';
import type { AuditFilter } from '../audit/query.ts';
import { type SigningKey, signingKeys } from '../auth/signing-secret.ts';
import { jsonQuery, listAuditLogs, maxTextLimit, textForms } from '../contract/audit-logs.ts';
import { maxLimit } from '../contract/parameters.ts';
import { type FieldFault, invalidParameter } from '../errors.ts';
import { validate } from '../validation.ts';
import type { ApiRequest } from './request.ts';
import { preferredType } from './request.ts';

/** The signed text begins with it, so that no signature for another purpose is valid for a cursor. */
const purpose = 'cursor.v1';

const makeCursor = ({ keyObject }: SigningKey, scope: string, position: string): string => {
  const signature = createHmac('sha256', keyObject)
    .update(JSON.stringify([purpose, scope, position]))
    .digest('base64url');
  return `${Buffer.from(position).toString('base64url')}.${signature}`;
};

/** Compares two texts in a time that does not depend on where they differ. */
const isSame = (one: string, other: string): boolean => {
  const [bytes, otherBytes] = [Buffer.from(one), Buffer.from(other)];
  return bytes.length === otherBytes.length && timingSafeEqual(bytes, otherBytes);
};

/**
 * An opaque cursor: a position in a list, signed together with the scope, so that it can be neither
 * altered nor used on another list.
 * @param scope the list and its filters
 * @param position the sort key of the last entry of the page
 * @throws what {@link signingKeys} throws
 */
export const encodeCursor = async (scope: string, position: string): Promise<string> => {
  const [key] = await signingKeys();
  return makeCursor(key, scope, position);
};

/**
 * The position that a cursor holds.
 * @throws {DomainError} PARAMETER_INVALID for one that was not issued for this list; what
 *   {@link signingKeys} throws
 */
export const decodeCursor = async (scope: string, cursor: string): Promise<string> => {
  const position = Buffer.from(cursor.replace(/\..*/s, ''), 'base64url').toString();
  for (const key of await signingKeys()) {
    // base64url has several spellings of the same bytes: only ours is accepted.
    if (isSame(cursor, makeCursor(key, scope, position))) return position;
  }
  throw invalidParameter('cursor', 'is invalid');
};

type Parameters<Query extends v.ObjectEntries> = v.InferOutput<v.ObjectSchema<Query, undefined>>;

/**
 * The values of an endpoint's query parameters; it ignores those that it does not know.
 * @throws {DomainError} PARAMETER_INVALID naming the first that breaks its rule
 */
export const parseQuery = <Query extends v.ObjectEntries>(
  { query }: { readonly query: Query },
  given: Readonly<Record<string, string | undefined>> = {},
): Parameters<Query> => {
  const validated = validate(v.object(query), given);
  if ('output' in validated) return validated.output;
  const [{ field, rule }] = validated.faults as readonly [FieldFault];
  throw invalidParameter(field, rule);
};

/**
 * The same for an endpoint that refuses unknown parameters, because a client would take an ignored
 * filter for one that was applied. The raw query is read, because the gateway joins repeated
 * values.
 * @throws {DomainError} PARAMETER_INVALID too for a parameter that is unknown or given twice
 */
const parseExactQuery = <Query extends v.ObjectEntries>(
  operation: { readonly query: Query },
  { rawQueryString }: ApiRequest,
): Parameters<Query> => {
  const names = Object.keys(operation.query);
  const given = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(rawQueryString)) {
    if (!names.includes(name)) {
      const rule = `is unknown; the parameters are ${names.join(', ')}`;
      throw invalidParameter(name || 'A parameter without a name', rule);
    }
    if (given.has(name)) throw invalidParameter(name, 'must be given only once');
    given.set(name, value);
  }
  return parseQuery(operation, Object.fromEntries(given));
};

/**
 * The page of a list that a request asks for.
 * @param scope names the list and its filters; a cursor of another one is refused
 * @throws what {@link decodeCursor} throws
 */
export const pageOf = async (
  { limit = maxLimit, cursor }: { limit?: number | undefined; cursor?: string | undefined },
  scope: string,
): Promise<{ limit: number; after: string | undefined }> => ({
  limit,
  after: cursor === undefined ? undefined : await decodeCursor(scope, cursor),
});

/**
 * The Link header (RFC 8288) that leads to the next page; no header when nothing remains.
 * @param next the sort key of the last entry of this page
 * @throws what {@link encodeCursor} throws
 */
export const nextPageLink = async (
  { rawPath, rawQueryString }: ApiRequest,
  scope: string,
  next: string | undefined,
): Promise<Readonly<Record<string, string>>> => {
  if (next === undefined) return {};
  const query = new URLSearchParams(rawQueryString);
  query.set('cursor', await encodeCursor(scope, next));
  return { Link: `<${rawPath}?${query}>; rel="next"` };
};

/** The form of text that an Accept header prefers; undefined: JSON. */
const preferredForm = (accept: string | undefined) => {
  const forms = Object.entries(textForms).map(
    ([form, { contentType }]) =>
      [contentType.replace(/;.*/, ''), form as keyof typeof textForms] as const,
  );
  const byMediaType = new Map(forms);
  return byMediaType.get(preferredType(accept, ['application/json', ...byMediaType.keys()]));
};

/** The scope of a list of audit entries for its cursors. The same filters have the same scope. */
const scopeOf = ({ userId, action, ...filter }: AuditFilter, order: 'asc' | 'desc'): string => {
  const { result, resourceId, since, until } = filter;
  const named = Object.entries({ result, resourceId, since, until }).flatMap(([name, value]) =>
    value ? [`&${name}=${encodeURIComponent(value)}`] : [],
  );
  if (order === 'asc') named.push('&order=asc');
  return `audit-logs?userId=${userId ?? ''}&action=${action ?? ''}${named.join('')}`;
};

/**
 * The values of the audit query.
 * @returns `format` is the form of text, undefined for JSON; `scope` is that of its cursors
 * @throws {DomainError} PARAMETER_INVALID
 */
export const parseAuditQuery = (request: ApiRequest) => {
  const format = preferredForm(request.headers.accept);
  const query = format ? listAuditLogs.query : jsonQuery;
  const { limit, cursor, order = 'desc', ...filter } = parseExactQuery({ query }, request);
  const { since, until } = filter;
  if (since && until && since >= until) throw invalidParameter('since', 'must be before until');
  const page = { limit: limit ?? (format ? maxTextLimit : maxLimit), cursor };
  return { format, filter, order, page, scope: scopeOf(filter, order) };
};
