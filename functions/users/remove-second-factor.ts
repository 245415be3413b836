import { removeFactor } from '../../lib/accounts/change-factor.ts';
import { protectedEndpoint, requireBearer } from '../../lib/http/access.ts';
import { sourceOf } from '../../lib/http/request.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.removeSecondFactor, async (request) => {
  await removeFactor(request.id, requireBearer(request), sourceOf(request));
  return { statusCode: 204 };
});
