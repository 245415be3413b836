import * as contract from '../../lib/contract/password-resets.ts';
import { anyoneRecognized } from '../../lib/http/access.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { sourceOf } from '../../lib/http/request.ts';
import { mailResetLink } from '../../lib/mail/hand-over.ts';
import { parseResetRequest } from '../../lib/users/fields.ts';

/** POST /api/password-resets */
export const handler = endpoint(contract.requestReset, anyoneRecognized, async (request) => {
  const { email } = parseResetRequest(request.body);
  await mailResetLink(email, sourceOf(request), { askedBy: request.claims?.id });
  return { statusCode: 202, body: { message: contract.requested } };
});
