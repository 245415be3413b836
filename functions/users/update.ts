import { changeUser } from '../../lib/accounts/change-user.ts';
import { shownWithAttributes } from '../../lib/accounts/user-response.ts';
import { callerOf, protectedEndpoint } from '../../lib/http/access.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.update, async (request) => {
  const { body, bearer, id, source } = request;
  const caller = callerOf(request);
  const { currentPassword, idToken, nonce, ...changes } = body;
  const given = { currentPassword, idToken, nonce, source };
  const user = await changeUser({ ...given, id, changes, caller, bearer });
  return { statusCode: 200, body: shownWithAttributes(user, caller) };
});
