import { audited } from '../../lib/audit/record.ts';
import { DomainError } from '../../lib/errors.ts';
import { protectedEndpoint } from '../../lib/http/access.ts';
import { sourceOf } from '../../lib/http/request.ts';
import { endSessions } from '../../lib/users/sessions.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.revoke, async (request) => {
  const { id } = request;
  const revocation = {
    ...sourceOf(request),
    action: 'LOGOUT',
    user_id: request.claims.id,
    resource_id: id,
    details: { scope: 'all' },
  } as const;
  await audited(revocation, async () => {
    if (!(await endSessions(id))) throw new DomainError('USER_NOT_FOUND');
  });
  return { statusCode: 204 };
});
