import { deleteOwnAccount } from '../../lib/accounts/delete-user.ts';
import { ownRequest, protectedEndpoint } from '../../lib/http/access.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.create, async (request) => {
  await deleteOwnAccount(ownRequest(request));
  return { statusCode: 204 };
});
