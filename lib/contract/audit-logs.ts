/** The audit trail, for admins. */
import * as v from 'valibot';
import { actions } from '../audit/actions.ts';
import { auditEntry } from '../audit/entry-schema.ts';
import { oneOf } from '../validation.ts';
import type { Describe, Operation } from './operation.ts';
import { pageParameters } from './parameters.ts';

const integerRule = 'must be an integer';

export const listAuditLogs = {
  caller: 'admin',
  query: {
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
    ...pageParameters,
  },
  storageFault: ['Error fetching audit logs', 'err'],
} as const satisfies Operation;

export const listAuditLogsDescription: Describe = () => ({
  id: 'listAuditLogs',
  tag: 'Audit trail',
  summary: 'Query the audit trail',
  text: 'Newest first. Filters combine. A parameter that is unknown, or given twice, is refused.',
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
