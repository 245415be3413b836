import { suspendUser } from '../../lib/accounts/suspend-user.ts';
import { protectedEndpoint } from '../../lib/http/access.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.suspend, async (request) => {
  await suspendUser(request.id, request.claims.id, request.source);
  return { statusCode: 204 };
});
