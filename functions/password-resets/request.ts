import { protectedEndpoint } from '../../lib/http/access.ts';
import { sourceOf } from '../../lib/http/request.ts';
import { requireMail, resetMessage } from '../../lib/options/mails/hand-over.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.request, async (request) => {
  const { body, claims } = request;
  await requireMail(resetMessage(body.email, sourceOf(request), claims));
  return { statusCode: 202, body: { message: contract.requested } };
});
