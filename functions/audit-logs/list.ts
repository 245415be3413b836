import { writePage } from '../../lib/audit/formats.ts';
import { listEntries, requireQueryable } from '../../lib/audit/query.ts';
import { recordExport, recordRead } from '../../lib/audit/record-queries.ts';
import { maxLimit } from '../../lib/contract/parameters.ts';
import { callerOf, protectedEndpoint } from '../../lib/http/access.ts';
import { nextPageLink, pageOf } from '../../lib/http/cursor.ts';
import { jsonType } from '../../lib/http/response.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.list, async (request) => {
  const format = contract.preferredForm(request.headers.accept);
  const { limit = format ? contract.maxTextLimit : maxLimit, cursor, ...rest } = request.query;
  const { order = 'desc', ...filter } = rest;
  requireQueryable(filter);
  // Cursors are signed with the filters, which are always in the order of the contract.
  const scope = JSON.stringify(['audit-logs', order, filter]);
  const page = await listEntries(filter, { order, ...(await pageOf({ limit, cursor }, scope)) });
  const { text, count, next } = writePage(format ?? 'json', page);
  const headers = await nextPageLink(request, scope, next);
  const reader = { ...request.source, user_id: callerOf(request).id };
  if (format) {
    await recordExport(reader, { format, filter: { ...filter, order }, entries: count });
  } else if (cursor === undefined) await recordRead(reader, { filter, order });
  const { contentType } = format ? contract.textForms[format] : { contentType: jsonType };
  return { statusCode: 200, headers, contentType, body: text };
});
