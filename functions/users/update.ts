import { changeUser } from '../../lib/accounts/change-user.ts';
import { shownUser } from '../../lib/accounts/shown.ts';
import { protectedEndpoint } from '../../lib/http/access.ts';
import { sourceOf } from '../../lib/http/request.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.update, async (request) => {
  const { body, bearer, claims, id } = request;
  const { currentPassword, idToken, nonce, ...changes } = body;
  const source = sourceOf(request);
  const confirmation = { currentPassword, idToken, nonce, sourceIp: source.ip_address };
  const user = await changeUser({ id, changes, claims, bearer, confirmation, source });
  return { statusCode: 200, body: shownUser(user, claims) };
});
