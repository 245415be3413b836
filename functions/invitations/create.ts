import { recording } from '../../lib/audit/record.ts';
import { DomainError } from '../../lib/ground/errors.ts';
import { protectedEndpoint } from '../../lib/http/access.ts';
import { sourceOf } from '../../lib/http/request.ts';
import { whyNotInvitable } from '../../lib/options/invitations/invitation.ts';
import { requestMailOrTell } from '../../lib/options/mails/announced-limits.ts';
import { invitationMessage } from '../../lib/options/mails/hand-over.ts';
import { requireMailable } from '../../lib/users/fields.ts';
import { readUser } from '../../lib/users/store.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.create, async (request) => {
  const { body, claims, id } = request;
  const source = sourceOf(request);
  const invitation = { source, action: 'UPDATE', by: claims.id, on: id } as const;
  await recording(invitation, async () => {
    const user = await readUser(id);
    const refusal = whyNotInvitable(user);
    if (refusal) throw new DomainError(refusal);
    requireMailable(user.email);
    await requestMailOrTell(invitationMessage(user, source, body.language), 'admin');
    return { details: { invited: true } };
  });
  return { statusCode: 204 };
});
