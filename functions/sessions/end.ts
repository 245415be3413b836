import { record, recordingFaults } from '../../lib/audit/record.ts';
import { protectedEndpoint } from '../../lib/http/access.ts';
import { sourceOf } from '../../lib/http/request.ts';
import { endOpenSession } from '../../lib/options/sessions/open-sessions.ts';
import { isSessionId } from '../../lib/options/sessions/sessions.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.end, async (request) => {
  const { id, pathParameters: { session } = {} } = request;
  const logout = {
    ...sourceOf(request),
    action: 'LOGOUT',
    user_id: request.claims.id,
    resource_id: id,
    ...(isSessionId(session) ? { details: { session } } : {}),
  } as const;
  await recordingFaults(logout, endOpenSession(id, session));
  await record(logout);
  return { statusCode: 204 };
});
