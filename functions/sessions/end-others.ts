import { audited } from '../../lib/audit/record.ts';
import { DomainError } from '../../lib/ground/errors.ts';
import { protectedEndpoint, requireBearer } from '../../lib/http/access.ts';
import { sourceOf } from '../../lib/http/request.ts';
import { endOtherSessions } from '../../lib/options/sessions/open-sessions.ts';
import { endSessions } from '../../lib/options/sessions/sessions.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.endOthers, async (request) => {
  const { id } = request;
  const caller = requireBearer(request);
  const isOwn = id === caller.id;
  const logout = {
    ...sourceOf(request),
    action: 'LOGOUT',
    user_id: caller.id,
    resource_id: id,
    details: { scope: isOwn ? 'others' : 'all' },
  } as const;
  await audited(logout, async () => {
    if (isOwn) return endOtherSessions(caller);
    if (!(await endSessions(id))) throw new DomainError('USER_NOT_FOUND');
  });
  return { statusCode: 204 };
});
