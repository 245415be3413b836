import { listEntries } from '../../lib/audit/store.ts';
import * as contract from '../../lib/contract/audit-logs.ts';
import { adminOnly } from '../../lib/http/access.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { nextPageLink, pageOf } from '../../lib/http/pagination.ts';
import { parseExactQuery } from '../../lib/http/parameters.ts';

/** GET /api/admin/audit-logs */
export const handler = endpoint(contract.listAuditLogs, adminOnly, async (request) => {
  const { userId, action, ...asked } = parseExactQuery(contract.listAuditLogs, request);
  const scope = `audit-logs?userId=${userId ?? ''}&action=${action ?? ''}`;
  const page = await pageOf(asked, scope);
  const { entries, next } = await listEntries({ userId, action }, page);
  const headers = await nextPageLink(request, scope, next);
  return { statusCode: 200, headers, body: { data: entries } };
});
