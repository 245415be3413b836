import { audited } from '../../lib/audit/record.ts';
import { DomainError } from '../../lib/errors.ts';
import { isSelf, protectedEndpoint } from '../../lib/http/access.ts';
import { sourceOf } from '../../lib/http/request.ts';
import { suspendUser } from '../../lib/users/suspension.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.suspend, async (request) => {
  const { claims, id } = request;
  if (isSelf(request)) throw new DomainError('FORBIDDEN');
  const suspension = {
    ...sourceOf(request),
    action: 'UPDATE',
    user_id: claims.id,
    resource_id: id,
    details: { suspended: true },
  } as const;
  await audited(suspension, () => suspendUser(id));
  return { statusCode: 204 };
});
