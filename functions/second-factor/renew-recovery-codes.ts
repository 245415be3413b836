import { renewRecoveryCodes } from '../../lib/auth/factor-changes.ts';
import * as contract from '../../lib/contract/second-factor.ts';
import { authenticated, storedCaller } from '../../lib/http/access.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { sourceOf } from '../../lib/http/request.ts';

/** POST /api/second-factor/recovery-codes */
export const handler = endpoint(contract.renewRecoveryCodes, authenticated, async (request) => {
  const caller = storedCaller(request);
  const own = { caller, source: sourceOf(request), body: request.body };
  const recoveryCodes = await renewRecoveryCodes(own);
  return { statusCode: 200, body: { recoveryCodes } };
});
