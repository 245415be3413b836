import { deleteOwnAccount } from '../../lib/accounts/delete-user.ts';
import { protectedEndpoint, requireBearer } from '../../lib/http/access.ts';
import { sourceOf } from '../../lib/http/request.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.create, async (request) => {
  const caller = requireBearer(request);
  await deleteOwnAccount({ ...request.body, caller, source: sourceOf(request) });
  return { statusCode: 204 };
});
