import type * as v from 'valibot';
import type { AuditFilter } from '../audit/store.ts';
import type { listAuditLogs } from '../contract/audit-logs.ts';
import { invalidParameter } from '../errors.ts';
import { parseExactQuery } from './parameters.ts';
import type { ApiRequest } from './request.ts';

type AuditQuery = typeof listAuditLogs.query;

/** What a list of audit entries is of, for its cursors: one spelling for one meaning. */
const scopeOf = ({ userId, action, ...filter }: AuditFilter, order: 'asc' | 'desc'): string => {
  const { result, resourceId, since, until } = filter;
  const given = Object.entries({ result, resourceId, since, until }).filter(([, value]) => value);
  const named = given.map(([name, value]) => `&${name}=${encodeURIComponent(value ?? '')}`);
  if (order === 'asc') named.push('&order=asc');
  // These two are always named, as before there were others, so that cursors of then go on.
  return `audit-logs?userId=${userId ?? ''}&action=${action ?? ''}${named.join('')}`;
};

/**
 * What the audit query asks for.
 * @returns in `scope` what its cursors belong to
 * @throws {DomainError} PARAMETER_INVALID
 */
export const parseAuditQuery = (operation: { readonly query: AuditQuery }, request: ApiRequest) => {
  const given = parseExactQuery(operation, request);
  const { limit, cursor, order = 'desc', ...filter } = given;
  const { since, until } = filter;
  if (since && until && since >= until) throw invalidParameter('since', 'must be before until');
  return { filter, order, page: { limit, cursor }, scope: scopeOf(filter, order) };
};
