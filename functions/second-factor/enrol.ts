import { beginEnrolment } from '../../lib/auth/factor-changes.ts';
import * as contract from '../../lib/contract/second-factor.ts';
import { authenticated, storedCaller } from '../../lib/http/access.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { sourceOf } from '../../lib/http/request.ts';

/** POST /api/second-factor */
export const handler = endpoint(contract.enrol, authenticated, async (request) => {
  const caller = storedCaller(request);
  const own = { caller, source: sourceOf(request), body: request.body };
  const enrolment = await beginEnrolment(own, request.requestContext.domainName);
  return { statusCode: 201, body: enrolment };
});
