import { audited } from '../../lib/audit/record.ts';
import { checkMaker, checkOwnChange } from '../../lib/auth/own-change.ts';
import * as contract from '../../lib/contract/users.ts';
import { DomainError } from '../../lib/errors.ts';
import { isSelf, lacksFactor, usersMayChange } from '../../lib/http/access.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { type AuthenticatedRequest, sourceOf } from '../../lib/http/request.ts';
import { notifyOfChange } from '../../lib/mail/hand-over.ts';
import { mailWaiting, postponeMove } from '../../lib/reset/verification.ts';
import { config } from '../../lib/settings.ts';
import { logAdminMade } from '../../lib/users/admins.ts';
import { changeDetails } from '../../lib/users/audit-details.ts';
import { updateUser } from '../../lib/users/changes.ts';
import { toUserFor } from '../../lib/users/items.ts';
import { hashPassword } from '../../lib/users/password.ts';
import { parseUserChanges, type UserChanges } from '../../lib/users/schema.ts';
import { parseUserId } from '../../lib/users/user.ts';

/** Admins who lack the second factor that their role requires may not send a role of their own. */
const requireFactorForRole = (request: AuthenticatedRequest): void => {
  if (isSelf(request) && request.body.role !== undefined && lacksFactor(request)) {
    throw new DomainError('SECOND_FACTOR_REQUIRED');
  }
};

/**
 * The permission of users for their own changes, those of them that take effect at once, and the
 * address that waits for its link.
 */
const checkOwn = async (request: AuthenticatedRequest, changes: UserChanges) => {
  const { body, caller, claims } = request;
  const { currentPassword } = body;
  const sourceIp = sourceOf(request).ip_address;
  const permission =
    caller && (await checkOwnChange({ changes, currentPassword, sourceIp }, caller));
  return { permission, ...(await postponeMove(claims.id, changes, permission)) };
};

/** Whether and how the caller may change the user: as itself, as an admin, or as its maker. */
const check = async (request: AuthenticatedRequest, id: number, changes: UserChanges) => {
  const { claims } = request;
  if (claims.id === id) return checkOwn(request, changes);
  const permission = claims.role === 'admin' ? undefined : await checkMaker(id, claims.id);
  return { permission, atOnce: changes, waiting: {} };
};

/** PUT /api/users/{id} */
export const handler = endpoint(contract.updateUser, usersMayChange, async (request) => {
  const { body, claims } = request;
  requireFactorForRole(request);
  const changes = parseUserChanges(body, claims.role);
  const id = parseUserId(request.pathParameters?.id);
  const source = sourceOf(request);
  const change = { ...source, action: 'UPDATE', user_id: claims.id, resource_id: id } as const;
  const { before, after, atOnce, waiting, permission } = await audited(change, async (entry) => {
    const checked = await check(request, id, changes);
    const { password, ...rest } = checked.atOnce;
    const hashed = password === undefined ? {} : { password_hash: await hashPassword(password) };
    const context = {
      callerId: claims.id,
      permission: checked.permission,
      mailsLinks: config.mailFunctionUrl !== '',
      ...(config.emailVerification === 'off' ? {} : { provesAddress: claims.role === 'admin' }),
    };
    const changed = await updateUser(id, { ...rest, ...hashed, ...checked.waiting }, context);
    entry.details = {
      ...changeDetails(changed.before, checked.atOnce),
      ...(checked.atOnce === changes ? {} : { requested: ['email'] }),
    };
    return { ...changed, ...checked };
  });
  if (changes.role === 'admin' && before.role !== 'admin') {
    logAdminMade(id, { by: claims.id, requestId: source.request_id });
  }
  await notifyOfChange(before, atOnce, source);
  await mailWaiting(id, waiting, { permission, source });
  return { statusCode: 200, body: toUserFor(claims)({ ...after }) };
});
