import { removeFactor } from '../../lib/accounts/enrol.ts';
import { DomainError } from '../../lib/ground/errors.ts';
import { protectedEndpoint, requireBearer } from '../../lib/http/access.ts';
import { sourceOf } from '../../lib/http/request.ts';
import { hasFactor } from '../../lib/options/second-factor/state.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.removeSecondFactor, async (request) => {
  const admin = requireBearer(request);
  if (!hasFactor(admin)) throw new DomainError('SECOND_FACTOR_REQUIRED');
  await removeFactor(request.id, admin.id, sourceOf(request));
  return { statusCode: 204 };
});
