import * as contract from '../../lib/contract/accounts.ts';
import { DomainError } from '../../lib/errors.ts';
import { authenticated } from '../../lib/http/access.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { findUser } from '../../lib/users/store.ts';

/** GET /api/profile */
export const handler = endpoint(contract.getProfile, authenticated, async ({ claims }) => {
  const user = await findUser(claims.id);
  if (!user) throw new DomainError('USER_NOT_FOUND');
  const { id, name, email, role } = user;
  return { statusCode: 200, body: { data: { id, name, email, role } } };
});
