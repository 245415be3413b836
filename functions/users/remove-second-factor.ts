import { audited } from '../../lib/audit/record.ts';
import { removeFactor } from '../../lib/auth/factor-changes.ts';
import { DomainError } from '../../lib/errors.ts';
import { protectedEndpoint, requireBearer } from '../../lib/http/access.ts';
import { sourceOf } from '../../lib/http/request.ts';
import { notifyOfPart } from '../../lib/mail/hand-over.ts';
import { factorRemoved } from '../../lib/second-factor/factor.ts';
import { hasFactor } from '../../lib/users/items.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.removeSecondFactor, async (request) => {
  const { id } = request;
  const caller = requireBearer(request);
  if (id === caller.id) throw new DomainError('FORBIDDEN');
  if (!hasFactor(caller)) throw new DomainError('SECOND_FACTOR_REQUIRED');
  const source = sourceOf(request);
  const removal = {
    ...source,
    action: 'UPDATE',
    user_id: caller.id,
    resource_id: id,
    details: factorRemoved,
  } as const;
  const user = await audited(removal, () => removeFactor(id));
  await notifyOfPart(user, 'secondFactor', source);
  return { statusCode: 204 };
});
