import { removeFactor } from '../../lib/accounts/change-factor.ts';
import { protectedEndpoint, requireBearer } from '../../lib/http/access.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.removeSecondFactor, async (request) => {
  await removeFactor(request.id, requireBearer(request), request.source);
  return { statusCode: 204 };
});
