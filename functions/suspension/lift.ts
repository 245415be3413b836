import { record, recordingFaults } from '../../lib/audit/record.ts';
import { protectedEndpoint } from '../../lib/http/access.ts';
import { sourceOf } from '../../lib/http/request.ts';
import { liftSuspension } from '../../lib/options/suspension/suspension.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.lift, async (request) => {
  const { claims, id } = request;
  const lifting = {
    ...sourceOf(request),
    action: 'UPDATE',
    user_id: claims.id,
    resource_id: id,
    details: { suspended: false },
  } as const;
  const isChanged = await recordingFaults(lifting, liftSuspension(id, claims.id));
  if (isChanged) await record(lifting);
  return { statusCode: 204 };
});
