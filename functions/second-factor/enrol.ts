import { beginEnrolment } from '../../lib/accounts/change-factor.ts';
import { config } from '../../lib/ground/settings.ts';
import { ownRequest, protectedEndpoint } from '../../lib/http/access.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.enrol, async (request) => {
  const issuer = config.productName || request.requestContext.domainName;
  const enrolment = await beginEnrolment(ownRequest(request), issuer);
  return { statusCode: 201, body: enrolment };
});
