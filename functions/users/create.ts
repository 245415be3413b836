import { createUser } from '../../lib/accounts/register.ts';
import { shownWithAttributes } from '../../lib/accounts/user-response.ts';
import { callerOf, protectedEndpoint } from '../../lib/http/access.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.create, async (request) => {
  const caller = callerOf(request);
  const user = await createUser(request.body, caller, request.source);
  return { statusCode: 201, body: shownWithAttributes(user, caller) };
});
