import { beginEnrolment } from '../../lib/accounts/enrol.ts';
import { config } from '../../lib/ground/settings.ts';
import { protectedEndpoint, requireBearer } from '../../lib/http/access.ts';
import { sourceOf } from '../../lib/http/request.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.enrol, async (request) => {
  const caller = requireBearer(request);
  const own = { ...request.body, caller, source: sourceOf(request) };
  const issuer = config.productName || request.requestContext.domainName;
  const enrolment = await beginEnrolment(own, issuer);
  return { statusCode: 201, body: enrolment };
});
