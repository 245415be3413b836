import { writePage } from '../../lib/audit/formats.ts';
import { listEntries } from '../../lib/audit/query.ts';
import { recordRead } from '../../lib/audit/reads.ts';
import { record } from '../../lib/audit/record.ts';
import * as contract from '../../lib/contract/audit-logs.ts';
import { adminOnly } from '../../lib/http/access.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { nextPageLink, pageOf, parseAuditQuery } from '../../lib/http/query.ts';
import { sourceOf } from '../../lib/http/request.ts';
import { jsonType } from '../../lib/http/response.ts';

/** GET /api/admin/audit-logs */
export const handler = endpoint(contract.listAuditLogs, adminOnly, async (request) => {
  const { format, filter, order, page, scope } = parseAuditQuery(request);
  const reader = { ...sourceOf(request), user_id: request.claims.id };
  const found = await listEntries(filter, { order, ...(await pageOf(page, scope)) });
  const { text, count, next } = writePage(format ?? 'json', found);
  const headers = await nextPageLink(request, scope, next);
  if (!format) {
    if (page.cursor === undefined) await recordRead(reader, { filter, order });
    return { statusCode: 200, headers, contentType: jsonType, body: text };
  }

  await record({
    ...reader,
    action: 'EXPORT',
    resource: 'audit-logs',
    result: 'SUCCESS',
    details: { format, filter: { ...filter, order }, entries: count },
  });
  const { contentType } = contract.textForms[format];
  return { statusCode: 200, headers, contentType, body: text };
});
