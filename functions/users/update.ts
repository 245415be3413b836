import { audited } from '../../lib/audit/record.ts';
import { changeUser } from '../../lib/auth/change-user.ts';
import * as contract from '../../lib/contract/users.ts';
import { DomainError } from '../../lib/errors.ts';
import { isSelf, lacksFactor, usersMayChange } from '../../lib/http/access.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { type AuthenticatedRequest, sourceOf } from '../../lib/http/request.ts';
import { logAdminMade } from '../../lib/log.ts';
import { mailPendingLink, notifyOfChange } from '../../lib/mail/hand-over.ts';
import { changeDetails } from '../../lib/users/audit-details.ts';
import { toUser } from '../../lib/users/items.ts';
import { parseUserChanges } from '../../lib/users/schema.ts';
import { parseUserId } from '../../lib/users/user.ts';

/** Admins who lack the second factor that their role requires may not send a role of their own. */
const requireFactorForRole = (request: AuthenticatedRequest): void => {
  if (isSelf(request) && request.body.role !== undefined && lacksFactor(request)) {
    throw new DomainError('SECOND_FACTOR_REQUIRED');
  }
};

/** PUT /api/users/{id} */
export const handler = endpoint(contract.updateUser, usersMayChange, async (request) => {
  const { body, caller, claims } = request;
  requireFactorForRole(request);
  const changes = parseUserChanges(body, claims.role);
  const id = parseUserId(request.pathParameters?.id);
  const source = sourceOf(request);
  const confirmation = { currentPassword: body.currentPassword, sourceIp: source.ip_address };
  const change = { ...source, action: 'UPDATE', user_id: claims.id, resource_id: id } as const;
  const { before, after, made, waits } = await audited(change, async (entry) => {
    const changed = await changeUser({ id, changes, claims, caller, confirmation });
    const requested = changed.waits ? { requested: ['email'] } : {};
    entry.details = { ...changeDetails(changed.before, changed.made), ...requested };
    return changed;
  });
  if (made.role === 'admin' && before.role !== 'admin') {
    logAdminMade(id, { by: claims.id, requestId: source.request_id });
  }
  await notifyOfChange(before, made, source);
  if (waits) await mailPendingLink(after, source, caller?.session.id);
  return { statusCode: 200, body: toUser(after, claims) };
});
