import { audited } from '../../lib/audit/record.ts';
import * as contract from '../../lib/contract/sessions.ts';
import { DomainError } from '../../lib/errors.ts';
import { selfOrAdmin, storedCaller } from '../../lib/http/access.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { sourceOf } from '../../lib/http/request.ts';
import { endOtherSessions } from '../../lib/users/open-sessions.ts';
import { endSessions } from '../../lib/users/sessions.ts';
import { parseUserId } from '../../lib/users/user.ts';

/** DELETE /api/users/{id}/sessions */
export const handler = endpoint(contract.endOtherSessions, selfOrAdmin, async (request) => {
  const id = parseUserId(request.pathParameters?.id);
  const caller = storedCaller(request);
  const logout = {
    ...sourceOf(request),
    action: 'LOGOUT',
    user_id: caller.id,
    resource_id: id,
    details: { scope: 'others' },
  } as const;
  await audited(logout, async () => {
    if (id === caller.id) return endOtherSessions(caller);
    if (!(await endSessions(id))) throw new DomainError('USER_NOT_FOUND');
  });
  return { statusCode: 204 };
});
