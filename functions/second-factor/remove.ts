import { removeOwnFactor } from '../../lib/accounts/change-factor.ts';
import { ownRequest, protectedEndpoint } from '../../lib/http/access.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.remove, async (request) => {
  await removeOwnFactor(ownRequest(request));
  return { statusCode: 204 };
});
