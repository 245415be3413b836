import { deleteOwnAccount } from '../../lib/accounts/delete-user.ts';
import { protectedEndpoint, requireBearer } from '../../lib/http/access.ts';
import { sourceOf } from '../../lib/http/request.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.create, async (request) => {
  const source = sourceOf(request);
  const caller = requireBearer(request);
  const confirmation = { ...request.body, caller, sourceIp: source.ip_address };
  await deleteOwnAccount(confirmation, source);
  return { statusCode: 204 };
});
