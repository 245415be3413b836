import { endOtherSessions } from '../../lib/accounts/end-sessions.ts';
import { protectedEndpoint, requireBearer } from '../../lib/http/access.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.endOthers, async (request) => {
  await endOtherSessions(requireBearer(request), { on: request.id, source: request.source });
  return { statusCode: 204 };
});
