import { removeOwnFactor } from '../../lib/auth/factor-changes.ts';
import * as contract from '../../lib/contract/second-factor.ts';
import { authenticated, storedCaller } from '../../lib/http/access.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { sourceOf } from '../../lib/http/request.ts';

/** POST /api/second-factor/removals */
export const handler = endpoint(contract.removeOwnFactor, authenticated, async (request) => {
  const caller = storedCaller(request);
  const own = { caller, source: sourceOf(request), body: request.body };
  await removeOwnFactor(own);
  return { statusCode: 204 };
});
