import { record, recordingFaults } from '../../lib/audit/record.ts';
import { protectedEndpoint } from '../../lib/http/access.ts';
import { sourceOf } from '../../lib/http/request.ts';
import { suspendUser } from '../../lib/options/suspension/suspension.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.suspend, async (request) => {
  const { claims, id } = request;
  const suspension = {
    ...sourceOf(request),
    action: 'UPDATE',
    user_id: claims.id,
    resource_id: id,
    details: { suspended: true },
  } as const;
  const isChanged = await recordingFaults(suspension, suspendUser(id));
  if (isChanged) await record(suspension);
  return { statusCode: 204 };
});
