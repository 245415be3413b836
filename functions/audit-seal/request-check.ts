import { recording } from '../../lib/audit/record.ts';
import { DomainError } from '../../lib/ground/errors.ts';
import { config, keepsSeal } from '../../lib/ground/settings.ts';
import { protectedEndpoint } from '../../lib/http/access.ts';
import { sourceOf } from '../../lib/http/request.ts';
import * as checkRequest from '../../lib/seal/check-request.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.requestCheck, async (request) => {
  // While sealing is paused, the sealer does not run, and would not see the request.
  if (config.auditSeal !== 'on' || !keepsSeal(config)) throw new DomainError('AUDIT_NOT_SEALED');
  const check = {
    source: sourceOf(request),
    action: 'UPDATE',
    resource: 'audit-seal',
    by: request.claims.id,
    details: { check: 'requested' },
  } as const;
  await recording(check, async () => {
    await checkRequest.leave();
  });
  return { statusCode: 202, body: { message: contract.requested } };
});
