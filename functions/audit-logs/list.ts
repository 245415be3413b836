import { writePage } from '../../lib/audit/formats.ts';
import { listEntries } from '../../lib/audit/query.ts';
import { recordRead } from '../../lib/audit/reads.ts';
import { record } from '../../lib/audit/record.ts';
import { maxLimit } from '../../lib/contract/parameters.ts';
import { invalidParameter } from '../../lib/ground/errors.ts';
import { protectedEndpoint } from '../../lib/http/access.ts';
import { nextPageLink, pageOf } from '../../lib/http/query.ts';
import { sourceOf } from '../../lib/http/request.ts';
import { jsonType } from '../../lib/http/response.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.list, async (request) => {
  const format = contract.preferredForm(request.headers.accept);
  const { limit = format ? contract.maxTextLimit : maxLimit, cursor, ...rest } = request.query;
  const { order = 'desc', ...filter } = rest;
  const { since, until, about, userId, resourceId } = filter;
  if (since && until && since >= until) throw invalidParameter('since', 'must be before until');
  if (about !== undefined && (userId ?? resourceId) !== undefined) {
    throw invalidParameter('about', 'must not be given with userId or resourceId');
  }
  // Cursors are signed for the same filters, which come in the order of the contract.
  const scope = JSON.stringify(['audit-logs', order, filter]);
  const page = await pageOf({ limit, cursor }, scope);
  const { text, count, next } = writePage(
    format ?? 'json',
    await listEntries(filter, { order, ...page }),
  );
  const reader = { ...sourceOf(request), user_id: request.claims.id };
  const headers = await nextPageLink(request, scope, next);
  if (!format) {
    if (cursor === undefined) await recordRead(reader, { filter, order });
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
