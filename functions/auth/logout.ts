import { logOut } from '../../lib/accounts/end-sessions.ts';
import { protectedEndpoint } from '../../lib/http/access.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.logout, async (request) => {
  const { id } = request.claims;
  await logOut(request.bearer, { by: id, on: id, source: request.source });
  return { statusCode: 204 };
});
