import { record, recordingFaults } from '../../lib/audit/record.ts';
import { protectedEndpoint } from '../../lib/http/access.ts';
import { sourceOf } from '../../lib/http/request.ts';
import { endSession } from '../../lib/options/sessions/sessions.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.logout, async (request) => {
  const { bearer, claims } = request;
  const logout = {
    ...sourceOf(request),
    action: 'LOGOUT',
    user_id: claims.id,
    resource_id: claims.id,
  } as const;
  // A deleted user has no sessions to end.
  if (bearer) await recordingFaults(logout, endSession(bearer.id, bearer.session.id));
  await record(logout);
  return { statusCode: 204 };
});
