import { audited } from '../../lib/audit/record.ts';
import * as contract from '../../lib/contract/sessions.ts';
import { authenticatedEvenIfDeleted } from '../../lib/http/access.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { parseQuery } from '../../lib/http/query.ts';
import { sourceOf } from '../../lib/http/request.ts';
import { endSession, endSessions } from '../../lib/users/sessions.ts';

/** POST /api/logout */
export const handler = endpoint(contract.logOut, authenticatedEvenIfDeleted, async (request) => {
  const { scope } = parseQuery(contract.logOut, request.queryStringParameters);
  const { caller, claims } = request;
  const logout = {
    ...sourceOf(request),
    action: 'LOGOUT',
    user_id: claims.id,
    resource_id: claims.id,
    ...(scope ? { details: { scope } } : {}),
  } as const;
  await audited(logout, async () => {
    // A deleted user has no sessions to end.
    if (caller) await (scope ? endSessions(caller.id) : endSession(caller.id, caller.session.id));
  });
  return { statusCode: 204 };
});
