/** The audit trail, for admins. */
import * as v from 'valibot';
import { actions, results } from '../audit/actions.ts';
import { auditEntry } from '../audit/entry-schema.ts';
import { atLeast, atMost, oneOf, text } from '../validation.ts';
import type { Describe, Operation } from './operation.ts';
import { instant, pageParameters } from './parameters.ts';

const integerRule = 'must be an integer';

const filters = {
  userId: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^-?\d+$/, integerRule),
      v.transform(Number),
      v.number(),
      v.safeInteger(integerRule),
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
        'Only entries from this time on: a date-time with its offset (`+` is written `%2B`), or a date (UTC).',
      ),
    ),
  ),
  until: v.optional(v.pipe(instant, v.description('Only entries before this time: the same.'))),
  order: v.optional(
    v.pipe(
      oneOf(['desc', 'asc']),
      v.description('Newest first (`desc`), or oldest first.'),
      v.metadata({ default: 'desc' }),
    ),
  ),
};

export const listAuditLogs = {
  caller: 'admin',
  query: { ...filters, ...pageParameters },
  storageFault: ['Error fetching audit logs', 'err'],
} as const satisfies Operation;

export const listAuditLogsDescription: Describe = () => ({
  id: 'listAuditLogs',
  tag: 'Audit trail',
  summary: 'Query the audit trail',
  text: 'Newest first unless `order` says otherwise. Filters combine. A request reads a bounded number of entries: where few of them match, a page is short, even empty, and its `Link` leads on. A parameter that is unknown, or given twice, is refused.',
  success: {
    status: 200,
    description: 'One page of the entries.',
    schema: v.object({ data: v.pipe(v.array(auditEntry), v.readonly()) }),
    example: {
      data: [
        {
          ...{ id: 115032113971201, user_id: 17, action: 'LOGIN', resource: 'users' },
          ...{ resource_id: '17', ip_address: '192.0.2.1', user_agent: 'curl/8.5.0' },
          ...{ result: 'SUCCESS', details: null, created_at: '2026-11-21T09:05:00.000Z' },
        },
      ],
    },
    headers: ['Link'],
  },
  errors: ['PARAMETER_INVALID'],
});
