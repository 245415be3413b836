import { record, recordingFaults } from '../../lib/audit/record.ts';
import { endSession } from '../../lib/auth/token.ts';
import * as contract from '../../lib/contract/sessions.ts';
import { authenticatedEvenIfDeleted, bearerToken } from '../../lib/http/access.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { parseQuery } from '../../lib/http/query.ts';
import { sourceOf } from '../../lib/http/request.ts';
import { endSessions } from '../../lib/users/sessions.ts';

/** POST /api/logout */
export const handler = endpoint(contract.logOut, authenticatedEvenIfDeleted, async (request) => {
  const { scope } = parseQuery(contract.logOut, request.queryStringParameters);
  const { claims } = request;
  const logout = {
    ...sourceOf(request),
    action: 'LOGOUT',
    user_id: claims.id,
    resource_id: claims.id,
    ...(scope ? { details: { scope } } : {}),
  } as const;
  // A deleted user has no other sessions to end.
  const end = () => (scope ? endSessions(claims.id) : endSession(bearerToken(request), claims));
  await recordingFaults(logout, async () => void (await end()));
  await record({ ...logout, result: 'SUCCESS' });
  return { statusCode: 204 };
});
