import { recording } from '../../lib/audit/record.ts';
import { protectedEndpoint, requireBearer } from '../../lib/http/access.ts';
import { sourceOf } from '../../lib/http/request.ts';
import { endAllSessions, endOtherSessions } from '../../lib/options/sessions/open-sessions.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.endOthers, async (request) => {
  const { id } = request;
  const caller = requireBearer(request);
  const isOwn = id === caller.id;
  const logout = {
    source: sourceOf(request),
    action: 'LOGOUT',
    by: caller.id,
    on: id,
    details: { scope: isOwn ? 'others' : 'all' },
  } as const;
  await recording(logout, () => (isOwn ? endOtherSessions(caller) : endAllSessions(id)));
  return { statusCode: 204 };
});
