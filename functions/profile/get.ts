import * as contract from '../../lib/contract/accounts.ts';
import { DomainError } from '../../lib/errors.ts';
import { authenticated, findUserFor } from '../../lib/http/access.ts';
import { endpoint } from '../../lib/http/endpoint.ts';

/** GET /api/profile */
export const handler = endpoint(contract.getProfile, authenticated, async (request) => {
  const user = await findUserFor(request, request.claims.id);
  if (!user) throw new DomainError('USER_NOT_FOUND');
  const { created_at: _, ...data } = user;
  return { statusCode: 200, body: { data } };
});
