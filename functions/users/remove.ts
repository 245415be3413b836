import { deleteUser } from '../../lib/accounts/delete-user.ts';
import { protectedEndpoint } from '../../lib/http/access.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.remove, async (request) => {
  await deleteUser(request.id, request.claims.id, request.source);
  return { statusCode: 204 };
});
