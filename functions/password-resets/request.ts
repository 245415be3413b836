import { protectedEndpoint } from '../../lib/http/access.ts';
import { sourceOf } from '../../lib/http/request.ts';
import { requireMail, resetMessage } from '../../lib/options/mails/hand-over.ts';
import { requireToldMail } from '../../lib/options/mails/told.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.request, async (request) => {
  const { body, claims } = request;
  const source = sourceOf(request);
  await (claims?.role === 'admin'
    ? requireToldMail(resetMessage(body.email, source, claims), 'admin')
    : requireMail(resetMessage(body.email, source, claims)));
  return { statusCode: 202, body: { message: contract.requested } };
});
