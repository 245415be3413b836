import { seesAll } from '../../lib/accounts/policy.ts';
import { shownDetails, shownWhole } from '../../lib/accounts/user-response.ts';
import { protectedEndpoint } from '../../lib/http/access.ts';
import { readUser } from '../../lib/users/store.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.get, async (request) => {
  const user = await readUser(request.id, request.bearer);
  const details = seesAll(request.claims) ? shownDetails(user) : {};
  return { statusCode: 200, body: { ...shownWhole(user, request.claims), ...details } };
});
