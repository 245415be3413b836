import { protectedEndpoint } from '../../lib/http/access.ts';
import { sourceOf } from '../../lib/http/request.ts';
import { requestMail, resetMessage } from '../../lib/options/mails/hand-over.ts';
import { requestMailWithinLimits } from '../../lib/options/mails/told.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.request, async (request) => {
  const { body, claims } = request;
  const source = sourceOf(request);
  await (claims?.role === 'admin'
    ? requestMailWithinLimits(resetMessage(body.email, source, claims), 'admin')
    : requestMail(resetMessage(body.email, source, claims)));
  return { statusCode: 202, body: { message: contract.requested } };
});
