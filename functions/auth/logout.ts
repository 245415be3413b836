import { recording } from '../../lib/audit/record.ts';
import { protectedEndpoint } from '../../lib/http/access.ts';
import { sourceOf } from '../../lib/http/request.ts';
import { endSession } from '../../lib/options/sessions/sessions.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.logout, async (request) => {
  const { bearer, claims } = request;
  const { id } = claims;
  const logout = { source: sourceOf(request), action: 'LOGOUT', by: id, on: id } as const;
  await recording(logout, async () => {
    // A deleted user has no sessions to end.
    if (bearer) await endSession(bearer.id, bearer.session.id);
  });
  return { statusCode: 204 };
});
