/** The seal of the audit trail, as admins are shown it. */
import { auditSealSummary } from './named-schemas.ts';
import type { Describe, Operation, Operations } from './operation.ts';

export const getAuditSeal = {
  caller: 'admin',
  storageFault: ['Error reading audit seal', 'err'],
} as const satisfies Operation;

const getAuditSealDescription: Describe = ({ auditSeal }) => ({
  exists: auditSeal !== 'off',
  id: 'getAuditSeal',
  tag: 'Audit trail',
  summary: 'Get how the seal stands',
  text: 'As the service says. Whoever does not trust it runs `verify-audit` elsewhere.',
  success: {
    status: 200,
    description: 'The newest file, and what the sealer has checked.',
    schema: auditSealSummary,
    example: {
      key: 'fd110d301d2f077de1414b8f99f441b1403fab207b2052fbd2c065e4ee8e7dc2',
      interval: 300,
      newest: {
        number: 7,
        at: '2026-11-22T12:11:00.000Z',
        until: '2026-11-22T12:10:00.000Z',
        count: 2,
      },
      behind: null,
      check: { at: '2026-11-22T12:06:00.000Z', findings: 0, found: null },
    },
  },
  errors: ['AUDIT_NOT_SEALED'],
});

export const operations = {
  'GET /api/admin/audit-seal': [getAuditSeal, getAuditSealDescription],
} as const satisfies Operations;
