import { deleteUser } from '../../lib/accounts/delete-user.ts';
import { protectedEndpoint } from '../../lib/http/access.ts';
import { sourceOf } from '../../lib/http/request.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.remove, async (request) => {
  await deleteUser(request.id, request.claims.id, sourceOf(request));
  return { statusCode: 204 };
});
