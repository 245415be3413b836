import { audited } from '../../lib/audit/record.ts';
import { removeFactor } from '../../lib/auth/factor-changes.ts';
import * as contract from '../../lib/contract/second-factor.ts';
import { DomainError } from '../../lib/errors.ts';
import { adminOnly, storedCaller } from '../../lib/http/access.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { sourceOf } from '../../lib/http/request.ts';
import { notifyOfFactor } from '../../lib/mail/hand-over.ts';
import { factorRemoved } from '../../lib/second-factor/factor.ts';
import { hasFactor } from '../../lib/users/items.ts';
import { parseUserId } from '../../lib/users/user.ts';

/** DELETE /api/users/{id}/second-factor */
export const handler = endpoint(contract.removeFactor, adminOnly, async (request) => {
  const id = parseUserId(request.pathParameters?.id);
  const caller = storedCaller(request);
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
  await notifyOfFactor(user, source);
  return { statusCode: 204 };
});
