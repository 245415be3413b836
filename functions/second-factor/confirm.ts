import { confirmEnrolment } from '../../lib/accounts/enrol.ts';
import { protectedEndpoint, requireBearer } from '../../lib/http/access.ts';
import { sourceOf } from '../../lib/http/request.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.confirm, async (request) => {
  const caller = requireBearer(request);
  const own = { ...request.body, caller, source: sourceOf(request) };
  const recoveryCodes = await confirmEnrolment(own);
  return { statusCode: 200, body: { recoveryCodes } };
});
