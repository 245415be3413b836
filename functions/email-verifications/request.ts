import { protectedEndpoint } from '../../lib/http/access.ts';
import { requestMailOrTell } from '../../lib/options/mails/announced-limits.ts';
import { verificationMessage } from '../../lib/options/mails/hand-over.ts';
import { awaitsLink } from '../../lib/options/verified-addresses/address.ts';
import { readUser } from '../../lib/users/store.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.request, async (request) => {
  const user = await readUser(request.claims.id, request.bearer);
  const { source } = request;
  // While a link for another address is valid, no link is mailed, because a new link would make that link void.
  if (!user.email_verified && !awaitsLink(user)) {
    await requestMailOrTell(verificationMessage(user, source), 'other');
  }
  return { statusCode: 202, body: { message: contract.requested } };
});
