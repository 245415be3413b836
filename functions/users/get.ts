import { DomainError } from '../../lib/errors.ts';
import { findUserFor, protectedEndpoint } from '../../lib/http/access.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.get, async (request) => {
  const user = await findUserFor(request, request.id);
  if (!user) throw new DomainError('USER_NOT_FOUND');
  return { statusCode: 200, body: user };
});
