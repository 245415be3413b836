import * as contract from '../../lib/contract/sessions.ts';
import { selfOrAdmin, storedCaller } from '../../lib/http/access.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { listSessions } from '../../lib/users/open-sessions.ts';
import { parseUserId } from '../../lib/users/user.ts';

/** GET /api/users/{id}/sessions */
export const handler = endpoint(contract.listSessions, selfOrAdmin, async (request) => {
  const id = parseUserId(request.pathParameters?.id);
  return { statusCode: 200, body: { data: await listSessions(id, storedCaller(request).session) } };
});
