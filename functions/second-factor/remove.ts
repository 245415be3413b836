import { removeOwnFactor } from '../../lib/accounts/enrol.ts';
import { protectedEndpoint, requireBearer } from '../../lib/http/access.ts';
import { sourceOf } from '../../lib/http/request.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.remove, async (request) => {
  const caller = requireBearer(request);
  const own = { ...request.body, caller, source: sourceOf(request) };
  await removeOwnFactor(own);
  return { statusCode: 204 };
});
