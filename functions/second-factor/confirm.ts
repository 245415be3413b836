import { confirmEnrolment } from '../../lib/auth/factor-changes.ts';
import * as contract from '../../lib/contract/second-factor.ts';
import { authenticated, storedCaller } from '../../lib/http/access.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { sourceOf } from '../../lib/http/request.ts';

/** PUT /api/second-factor */
export const handler = endpoint(contract.confirm, authenticated, async (request) => {
  const caller = storedCaller(request);
  const own = { caller, source: sourceOf(request), body: request.body };
  const recoveryCodes = await confirmEnrolment(own);
  return { statusCode: 200, body: { recoveryCodes } };
});
