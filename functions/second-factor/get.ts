import * as contract from '../../lib/contract/second-factor.ts';
import { authenticated, storedCaller } from '../../lib/http/access.ts';
import { endpoint } from '../../lib/http/endpoint.ts';

/** GET /api/second-factor */
export const handler = endpoint(contract.getSecondFactor, authenticated, (request) => {
  const { factor_secret, recovery_codes } = storedCaller(request);
  const body = {
    enabled: factor_secret !== undefined,
    recovery_codes_left: recovery_codes?.size ?? 0,
  };
  return { statusCode: 200, body };
});
