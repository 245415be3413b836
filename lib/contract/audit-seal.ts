/** The seal of the audit trail, shown to admins: what a browser needs to check the chain by itself. */
import { auditSealDigests, auditSealPublicKey, auditSealSummary } from './named-schemas.ts';
import type { Describe, Operation, Operations } from './operation.ts';
import { pageParameters } from './parameters.ts';

const tag = 'Audit trail';
const storageFault = ['Error reading audit seal', 'err'] as const;
const errors = ['AUDIT_NOT_SEALED'] as const;

const window = {
  from: '2026-11-22T12:05:00.000Z',
  until: '2026-11-22T12:10:00.000Z',
};
const file = '20261122T120500000Z.digest.json';
const key = 'fd110d301d2f077de1414b8f99f441b1403fab207b2052fbd2c065e4ee8e7dc2';

export const getAuditSeal = { caller: 'admin', storageFault } as const satisfies Operation;

const getAuditSealDescription: Describe = ({ auditSeal }) => ({
  exists: auditSeal !== 'off',
  id: 'getAuditSeal',
  tag,
  summary: 'Get how the seal stands',
  success: {
    status: 200,
    description: 'The newest window, and what the sealer has checked.',
    schema: auditSealSummary,
    example: {
      key,
      interval: 300,
      newest: { file, ...window, count: 2 },
      behind: null,
      verified: { ...window, at: '2026-11-22T12:16:00.000Z', faults: 0 },
    },
  },
  errors,
});

export const listAuditSealDigests = {
  caller: 'admin',
  query: pageParameters,
  storageFault,
} as const satisfies Operation;

const listAuditSealDigestsDescription: Describe = ({ auditSeal }) => ({
  exists: auditSeal !== 'off',
  id: 'listAuditSealDigests',
  tag,
  summary: 'List the digests of the seal',
  text: 'From the newest back along `previous`. The list ends after a digest whose `previous` is null, or is not there any more, or not as its sealer left it.',
  success: {
    status: 200,
    description: 'One page of the digests.',
    schema: auditSealDigests,
    contentType: 'application/x-ndjson',
    example: `${JSON.stringify({ format: 2, ...window })}\n`,
    headers: ['Link'],
  },
  errors: ['PARAMETER_INVALID', ...errors],
});

export const getAuditSealPublicKey = { caller: 'admin', storageFault } as const satisfies Operation;

const getAuditSealPublicKeyDescription: Describe = ({ auditSeal }) => ({
  exists: auditSeal !== 'off',
  id: 'getAuditSealPublicKey',
  tag,
  summary: 'Get the public key of the seal',
  text: 'An Ed25519 key. Compare it with a copy that you keep elsewhere.',
  success: {
    status: 200,
    description: 'The key.',
    schema: auditSealPublicKey,
    contentType: 'application/x-pem-file',
    example:
      '-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAiojj3XQJ8ZX9UtstPLpdcspnCb8dlBIb83SIAbQPb1w=\n-----END PUBLIC KEY-----\n',
  },
  errors,
});

export const operations = {
  'GET /api/admin/audit-seal': [getAuditSeal, getAuditSealDescription],
  'GET /api/admin/audit-seal/digests': [listAuditSealDigests, listAuditSealDigestsDescription],
  'GET /api/admin/audit-seal/public-key': [getAuditSealPublicKey, getAuditSealPublicKeyDescription],
} as const satisfies Operations;
