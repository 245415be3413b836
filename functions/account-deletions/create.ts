import { deleteOwnAccount } from '../../lib/accounts/delete-user.ts';
import { protectedEndpoint, requireBearer } from '../../lib/http/access.ts';
import { sourceOf } from '../../lib/http/request.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.create, async (request) => {
  const source = sourceOf(request);
  const confirmation = { ...request.body, sourceIp: source.ip_address };
  await deleteOwnAccount(requireBearer(request), confirmation, source);
  return { statusCode: 204 };
});
