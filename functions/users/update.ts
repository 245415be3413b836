import { record, recordingFaults } from '../../lib/audit/record.ts';
import { checkMaker, checkOwnChange } from '../../lib/auth/own-change.ts';
import * as contract from '../../lib/contract/users.ts';
import { DomainError } from '../../lib/errors.ts';
import { lacksFactor, selfOrAdminOr } from '../../lib/http/access.ts';
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

const changeBy = (request: AuthenticatedRequest) =>
  ({
    ...sourceOf(request),
    action: 'UPDATE',
    user_id: request.claims.id,
    resource_id: parseUserId(request.pathParameters?.id),
  }) as const;

/**
 * Users may change themselves, admins everybody, and others, while the directory is open, those
 * whom they created.
 */
const access = selfOrAdminOr(async (request) => {
  if (config.userDirectory === 'closed') throw new DomainError('FORBIDDEN');
  const change = changeBy(request);
  return recordingFaults(change, () => checkMaker(change.resource_id, change.user_id));
});

/** Admins who lack the second factor that their role requires may not send a role of their own. */
const requireFactorForRole = (request: AuthenticatedRequest): void => {
  const isOwn = request.permission === undefined;
  if (isOwn && request.body.role !== undefined && lacksFactor(request)) {
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
  const own = { id: claims.id, changes, currentPassword, sourceIp };
  const permission = await checkOwnChange(own, caller);
  return { permission, ...(await postponeMove(claims.id, changes, permission)) };
};

/** PUT /api/users/{id} */
export const handler = endpoint(contract.updateUser, access, async (request) => {
  const { body, claims } = request;
  requireFactorForRole(request);
  const changes = parseUserChanges(body, claims.role);
  const source = sourceOf(request);
  const change = changeBy(request);
  const { resource_id: id, user_id: callerId } = change;
  const { permission, atOnce, waiting } =
    id === callerId
      ? await recordingFaults(change, () => checkOwn(request, changes))
      : { permission: request.permission, atOnce: changes, waiting: {} };
  const { password, ...rest } = atOnce;
  const hashed = password === undefined ? {} : { password_hash: await hashPassword(password) };
  const context = {
    callerId,
    permission,
    mailsLinks: config.mailFunctionUrl !== '',
    ...(config.emailVerification === 'off' ? {} : { provesAddress: claims.role === 'admin' }),
  };
  const { before, after } = await recordingFaults(change, () =>
    updateUser(id, { ...rest, ...hashed, ...waiting }, context),
  );
  if (changes.role === 'admin' && before.role !== 'admin') {
    logAdminMade(id, { by: callerId, requestId: change.request_id });
  }
  await Promise.all([
    record({
      ...change,
      result: 'SUCCESS',
      details: {
        ...changeDetails(before, atOnce),
        ...(atOnce === changes ? {} : { requested: ['email'] }),
      },
    }),
    notifyOfChange(before, atOnce, source),
    mailWaiting(id, waiting, { permission, source }),
  ]);
  return { statusCode: 200, body: toUserFor(claims)({ ...after }) };
});
