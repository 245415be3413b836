import { audited } from '../../lib/audit/record.ts';
import * as contract from '../../lib/contract/sessions.ts';
import { selfOrAdmin } from '../../lib/http/access.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { sourceOf } from '../../lib/http/request.ts';
import { endOpenSession } from '../../lib/users/open-sessions.ts';
import { isSessionId } from '../../lib/users/sessions.ts';
import { parseUserId } from '../../lib/users/user.ts';

/** DELETE /api/users/{id}/sessions/{session} */
export const handler = endpoint(contract.endSession, selfOrAdmin, async (request) => {
  const { id: user, session } = request.pathParameters ?? {};
  const id = parseUserId(user);
  const logout = {
    ...sourceOf(request),
    action: 'LOGOUT',
    user_id: request.claims.id,
    resource_id: id,
    ...(isSessionId(session) ? { details: { session } } : {}),
  } as const;
  await audited(logout, () => endOpenSession(id, session));
  return { statusCode: 204 };
});
