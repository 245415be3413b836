import { seesAll } from '../../lib/accounts/policy.ts';
import { shownToReaders, shownWithAttributes } from '../../lib/accounts/user-response.ts';
import { callerOf, protectedEndpoint } from '../../lib/http/access.ts';
import { readUser } from '../../lib/users/store.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.get, async (request) => {
  const caller = callerOf(request);
  const user = await readUser(request.id, request.bearer);
  const details = seesAll(caller) ? shownToReaders(user) : {};
  return { statusCode: 200, body: { ...shownWithAttributes(user, caller), ...details } };
});
