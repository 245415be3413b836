import { protectedEndpoint } from '../../lib/http/access.ts';
import { factorStanding } from '../../lib/users/items.ts';
import { readUser } from '../../lib/users/store.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.getSecondFactor, async (request) => ({
  statusCode: 200,
  body: factorStanding(await readUser(request.id)),
}));
