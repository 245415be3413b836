import { seesAll } from '../../lib/accounts/policy.ts';
import { shownDetails, shownUser } from '../../lib/accounts/user-response.ts';
import { DomainError } from '../../lib/ground/errors.ts';
import { findStoredFor, protectedEndpoint } from '../../lib/http/access.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.get, async (request) => {
  const user = await findStoredFor(request, request.id);
  if (!user) throw new DomainError('USER_NOT_FOUND');
  const details = seesAll(request.claims) ? shownDetails(user) : {};
  return { statusCode: 200, body: { ...shownUser(user, request.claims), ...details } };
});
