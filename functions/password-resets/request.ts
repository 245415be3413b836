import { protectedEndpoint } from '../../lib/http/access.ts';
import { sourceOf } from '../../lib/http/request.ts';
import { mailResetLink } from '../../lib/options/mails/hand-over.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.request, async (request) => {
  await mailResetLink(request.body.email, sourceOf(request), { askedBy: request.claims?.id });
  return { statusCode: 202, body: { message: contract.requested } };
});
