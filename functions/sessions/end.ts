import { recording } from '../../lib/audit/record.ts';
import { protectedEndpoint } from '../../lib/http/access.ts';
import { sourceOf } from '../../lib/http/request.ts';
import { endOpenSession } from '../../lib/options/sessions/open-sessions.ts';
import { isSessionId } from '../../lib/options/sessions/sessions.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.end, async (request) => {
  const { id, pathParameters: { session } = {} } = request;
  const logout = {
    source: sourceOf(request),
    action: 'LOGOUT',
    by: request.claims.id,
    on: id,
    ...(isSessionId(session) ? { details: { session } } : {}),
  } as const;
  await recording(logout, () => endOpenSession(id, session));
  return { statusCode: 204 };
});
