import { beginEnrolment } from '../../lib/auth/factor-changes.ts';
import { protectedEndpoint, storedCaller } from '../../lib/http/access.ts';
import { sourceOf } from '../../lib/http/request.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.enrol, async (request) => {
  const caller = storedCaller(request);
  const own = { caller, source: sourceOf(request), body: request.body };
  const enrolment = await beginEnrolment(own, request.requestContext.domainName);
  return { statusCode: 201, body: enrolment };
});
