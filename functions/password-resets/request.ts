import { recognisingEndpoint } from '../../lib/http/access.ts';
import { requestMailOrTell } from '../../lib/options/mails/announced-limits.ts';
import { requestMail, resetMessage } from '../../lib/options/mails/hand-over.ts';
import * as contract from './contract.ts';

export const handler = recognisingEndpoint(contract.request, async (request) => {
  const { body, claims, source } = request;
  await (claims?.role === 'admin'
    ? requestMailOrTell(resetMessage(body.email, source, claims), 'admin')
    : requestMail(resetMessage(body.email, source, claims)));
  return { statusCode: 202, body: { message: contract.requested } };
});
