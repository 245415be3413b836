import { protectedEndpoint, requireBearer } from '../../lib/http/access.ts';
import { listSessions } from '../../lib/options/sessions/open-sessions.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.list, async (request) => {
  const { id } = request;
  return {
    statusCode: 200,
    body: { data: await listSessions(id, requireBearer(request).session) },
  };
});
