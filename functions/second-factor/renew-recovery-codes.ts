import { renewRecoveryCodes } from '../../lib/accounts/enrol.ts';
import { protectedEndpoint, requireBearer } from '../../lib/http/access.ts';
import { sourceOf } from '../../lib/http/request.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.renewRecoveryCodes, async (request) => {
  const caller = requireBearer(request);
  const own = { ...request.body, caller, source: sourceOf(request) };
  const recoveryCodes = await renewRecoveryCodes(own);
  return { statusCode: 200, body: { recoveryCodes } };
});
