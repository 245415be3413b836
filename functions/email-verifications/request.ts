import { DomainError } from '../../lib/ground/errors.ts';
import { findStoredFor, protectedEndpoint } from '../../lib/http/access.ts';
import { sourceOf } from '../../lib/http/request.ts';
import { requireMail, verificationMessage } from '../../lib/options/mails/hand-over.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.request, async (request) => {
  const user = await findStoredFor(request, request.claims.id);
  if (!user) throw new DomainError('USER_NOT_FOUND');
  if (!user.email_verified) await requireMail(verificationMessage(user, sourceOf(request)));
  return { statusCode: 202, body: { message: contract.requested } };
});
