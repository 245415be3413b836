import { shownWithAttributes } from '../../lib/accounts/user-response.ts';
import { protectedEndpoint } from '../../lib/http/access.ts';
import { readUser } from '../../lib/users/store.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.get, async (request) => {
  const user = await readUser(request.claims.id, request.bearer);
  const { created_at: _, ...data } = shownWithAttributes(user, request.claims);
  return { statusCode: 200, body: { data } };
});
