import { audited } from '../../lib/audit/record.ts';
import * as contract from '../../lib/contract/sessions.ts';
import { DomainError } from '../../lib/errors.ts';
import { adminOnly } from '../../lib/http/access.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { sourceOf } from '../../lib/http/request.ts';
import { endSessions } from '../../lib/users/sessions.ts';
import { parseUserId } from '../../lib/users/user.ts';

/** POST /api/users/{id}/revocations */
export const handler = endpoint(contract.revokeSessions, adminOnly, async (request) => {
  const id = parseUserId(request.pathParameters?.id);
  const revocation = {
    ...sourceOf(request),
    action: 'LOGOUT',
    user_id: request.claims.id,
    resource_id: id,
    details: { scope: 'all' },
  } as const;
  await audited(revocation, async () => {
    if (!(await endSessions(id))) throw new DomainError('USER_NOT_FOUND');
  });
  return { statusCode: 204 };
});
