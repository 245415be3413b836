import * as contract from '../../lib/contract/email-verifications.ts';
import { DomainError } from '../../lib/errors.ts';
import { authenticated, findUserFor } from '../../lib/http/access.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { sourceOf } from '../../lib/http/request.ts';
import { mailVerificationLink } from '../../lib/mail/hand-over.ts';

/** POST /api/email-verifications */
export const handler = endpoint(contract.requestVerification, authenticated, async (request) => {
  const user = await findUserFor(request, request.claims.id);
  if (!user) throw new DomainError('USER_NOT_FOUND');
  await mailVerificationLink(user, sourceOf(request));
  return { statusCode: 202, body: { message: contract.requested } };
});
