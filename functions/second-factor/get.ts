import * as contract from '../../lib/contract/second-factor.ts';
import { authenticated, storedCaller } from '../../lib/http/access.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { factorStanding } from '../../lib/users/items.ts';

/** GET /api/second-factor */
export const handler = endpoint(contract.getSecondFactor, authenticated, (request) => ({
  statusCode: 200,
  body: factorStanding(storedCaller(request)),
}));
