import * as contract from '../../lib/contract/second-factor.ts';
import { adminOnly } from '../../lib/http/access.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { factorStanding } from '../../lib/users/items.ts';
import { readUser } from '../../lib/users/store.ts';
import { parseUserId } from '../../lib/users/user.ts';

/** GET /api/users/{id}/second-factor */
export const handler = endpoint(contract.getUserFactor, adminOnly, async (request) => ({
  statusCode: 200,
  body: factorStanding(await readUser(parseUserId(request.pathParameters?.id))),
}));
