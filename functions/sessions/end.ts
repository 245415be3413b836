import { endOpenSession } from '../../lib/accounts/end-sessions.ts';
import { protectedEndpoint } from '../../lib/http/access.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.end, async (request) => {
  const ending = { by: request.claims.id, on: request.id, source: request.source };
  await endOpenSession(request.pathParameters?.session, ending);
  return { statusCode: 204 };
});
