import { listEntries } from '../../lib/audit/store.ts';
import * as contract from '../../lib/contract/audit-logs.ts';
import { adminOnly } from '../../lib/http/access.ts';
import { parseAuditQuery } from '../../lib/http/audit-query.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { nextPageLink, pageOf } from '../../lib/http/pagination.ts';

/** GET /api/admin/audit-logs */
export const handler = endpoint(contract.listAuditLogs, adminOnly, async (request) => {
  const { filter, order, page, scope } = parseAuditQuery(contract.listAuditLogs, request);
  const { entries, next } = await listEntries(filter, { order, ...(await pageOf(page, scope)) });
  const headers = await nextPageLink(request, scope, next);
  return { statusCode: 200, headers, body: { data: entries } };
});
