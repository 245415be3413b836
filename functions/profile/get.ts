import { shownUser } from '../../lib/accounts/user-response.ts';
import { DomainError } from '../../lib/ground/errors.ts';
import { findStoredFor, protectedEndpoint } from '../../lib/http/access.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.get, async (request) => {
  const user = await findStoredFor(request, request.claims.id);
  if (!user) throw new DomainError('USER_NOT_FOUND');
  const { created_at: _, ...data } = shownUser(user, request.claims);
  return { statusCode: 200, body: { data } };
});
