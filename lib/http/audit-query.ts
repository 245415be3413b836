import type { AuditFilter } from '../audit/store.ts';
import { jsonQuery, listAuditLogs, maxTextLimit } from '../contract/audit-logs.ts';
import { maxLimit } from '../contract/parameters.ts';
import { invalidParameter } from '../errors.ts';
import { preferredType } from './accept.ts';
import { parseExactQuery } from './parameters.ts';
import type { ApiRequest } from './request.ts';

/** What a client may ask for: JSON, or entries as text in some format. */
const offer = ['application/json', 'application/x-ndjson', 'text/csv'] as const;
const formats = {
  'application/json': undefined,
  'application/x-ndjson': 'ndjson',
  'text/csv': 'csv',
} as const;

/** What a list of audit entries is of, for its cursors: one spelling for one meaning. */
const scopeOf = ({ userId, action, ...filter }: AuditFilter, order: 'asc' | 'desc'): string => {
  const { result, resourceId, since, until } = filter;
  const named = Object.entries({ result, resourceId, since, until }).flatMap(([name, value]) =>
    value ? [`&${name}=${encodeURIComponent(value)}`] : [],
  );
  if (order === 'asc') named.push('&order=asc');
  // These two are always named, as before there were others, so that cursors of then go on.
  return `audit-logs?userId=${userId ?? ''}&action=${action ?? ''}${named.join('')}`;
};

/**
 * What the audit query asks for.
 * @returns in `format` the form of text that is wanted, undefined for JSON; in `scope` what its
 *   cursors belong to
 * @throws {DomainError} PARAMETER_INVALID
 */
export const parseAuditQuery = (request: ApiRequest) => {
  const format = formats[preferredType(request.headers.accept, offer)];
  const query = format ? listAuditLogs.query : jsonQuery;
  const { limit, cursor, order = 'desc', ...filter } = parseExactQuery({ query }, request);
  const { since, until } = filter;
  if (since && until && since >= until) throw invalidParameter('since', 'must be before until');
  const page = { limit: limit ?? (format ? maxTextLimit : maxLimit), cursor };
  return { format, filter, order, page, scope: scopeOf(filter, order) };
};
