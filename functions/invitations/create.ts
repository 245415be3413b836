import { inviteUser } from '../../lib/accounts/invite.ts';
import { callerOf, protectedEndpoint } from '../../lib/http/access.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.create, async (request) => {
  const { body, id, source } = request;
  const { id: by } = callerOf(request);
  await inviteUser({ id, by, source }, body.language);
  return { statusCode: 204 };
});
