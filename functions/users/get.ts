import * as contract from '../../lib/contract/users.ts';
import { DomainError } from '../../lib/errors.ts';
import { findUserFor, usersMayRead } from '../../lib/http/access.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { parseUserId } from '../../lib/users/user.ts';

/** GET /api/users/{id} */
export const handler = endpoint(contract.getUser, usersMayRead, async (request) => {
  const user = await findUserFor(request, parseUserId(request.pathParameters?.id));
  if (!user) throw new DomainError('USER_NOT_FOUND');
  return { statusCode: 200, body: user };
});
