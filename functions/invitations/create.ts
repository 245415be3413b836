import { inviteUser } from '../../lib/accounts/invite.ts';
import { protectedEndpoint } from '../../lib/http/access.ts';
import { sourceOf } from '../../lib/http/request.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.create, async (request) => {
  const { body, claims, id } = request;
  await inviteUser({ id, by: claims.id, source: sourceOf(request) }, body.language);
  return { statusCode: 204 };
});
