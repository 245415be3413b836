import { createUser } from '../../lib/accounts/register.ts';
import { shownWithAttributes } from '../../lib/accounts/user-response.ts';
import { protectedEndpoint } from '../../lib/http/access.ts';
import { sourceOf } from '../../lib/http/request.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.create, async (request) => {
  const user = await createUser(request.body, request.claims, sourceOf(request));
  return { statusCode: 201, body: shownWithAttributes(user, request.claims) };
});
