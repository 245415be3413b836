/** The audit trail, for admins. */
import * as v from 'valibot';
import { actions, results } from '../audit/entry.ts';
import { atLeast, atMost, oneOf, text } from '../validation.ts';
import { auditEntries, auditEntriesAsCsv, auditEntriesAsNdjson } from './named-schemas.ts';
import type { Describe, Operation, Operations, TextForm } from './operation.ts';
import { cursor, instant, limitUpTo, maxLimit, pageParameters } from './parameters.ts';

const integerRule = 'must be an integer';

const example = {
  id: 115032113971201,
  user_id: 17,
  action: 'LOGIN',
  resource: 'users',
  resource_id: '17',
  ip_address: '192.0.2.1',
  user_agent: 'curl/8.5.0',
  result: 'SUCCESS',
  details: null,
  created_at: '2026-11-21T09:05:00.000Z',
};

const filters = {
  userId: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^-?\d+$/, integerRule),
      v.transform(Number),
      v.number(),
      v.safeInteger(integerRule),
      v.metadata({ format: 'int64' }),
      v.description('Only what this user did.'),
    ),
  ),
  action: v.optional(v.pipe(oneOf(actions), v.description('Only entries of this action.'))),
  result: v.optional(v.pipe(oneOf(results), v.description('Only entries of this result.'))),
  resourceId: v.optional(
    v.pipe(
      text,
      atLeast(() => 1),
      atMost(100),
      v.description('Only what was done to this user.'),
    ),
  ),
  since: v.optional(
    v.pipe(
      instant,
      v.description(
        'Only entries from this time on: a date-time with its offset (write `+` as `%2B`), or a date (UTC).',
      ),
    ),
  ),
  until: v.optional(
    v.pipe(instant, v.description('Only entries before this time, in the same form.')),
  ),
  order: v.optional(
    v.pipe(
      oneOf(['desc', 'asc']),
      v.description('Newest first (`desc`), or oldest first.'),
      v.metadata({ default: 'desc' }),
    ),
  ),
};

/** The most entries in a response as text, and the default. */
export const maxTextLimit = 1000;

/** The parameters of a request for JSON, the usual form. */
export const jsonQuery = { ...filters, ...pageParameters };

/** The forms of text, by their names in lib/audit/formats.ts. */
export const textForms = {
  ndjson: {
    contentType: 'application/x-ndjson',
    example: `${JSON.stringify(example)}\n`,
  },
  csv: {
    contentType: 'text/csv; charset=utf-8',
    example:
      'id,user_id,action,resource,resource_id,ip_address,user_agent,result,details,created_at\r\n115032113971201,17,LOGIN,users,17,192.0.2.1,curl/8.5.0,SUCCESS,,2026-11-21T09:05:00.000Z\r\n',
  },
} as const satisfies Readonly<Record<string, Omit<TextForm, 'schema'>>>;

export const listAuditLogs = {
  caller: 'admin',
  query: {
    ...filters,
    limit: v.optional(
      v.pipe(
        limitUpTo(maxTextLimit),
        v.description(
          `The most entries in the response. The maximum, which is also the default, is ${maxLimit} for JSON and ${maxTextLimit} for NDJSON and CSV.`,
        ),
      ),
    ),
    cursor,
  },
  storageFault: ['Error fetching audit logs', 'err'],
} as const satisfies Operation;

const listAuditLogsDescription: Describe = () => ({
  id: 'listAuditLogs',
  tag: 'Audit trail',
  summary: 'Query the audit trail',
  text: 'Newest first, unless `order` is `asc`. All filters must match. A request reads a bounded number of entries: if few of them match, the page is short or even empty, and its `Link` leads to the next one. A response has at most 4 MB. A request for NDJSON or CSV leaves an audit entry with the action EXPORT. Unknown and repeated parameters are refused.',
  success: {
    status: 200,
    description: 'One page of the entries.',
    schema: auditEntries,
    example: { data: [example] },
    textForms: [
      { ...textForms.ndjson, schema: auditEntriesAsNdjson },
      { ...textForms.csv, schema: auditEntriesAsCsv },
    ],
    headers: ['Link'],
  },
  errors: ['PARAMETER_INVALID'],
});

export const operations = {
  'GET /api/admin/audit-logs': [listAuditLogs, listAuditLogsDescription],
} as const satisfies Operations;
