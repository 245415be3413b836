import { record, recordingFaults } from '../../lib/audit/record.ts';
import { noticeChange } from '../../lib/auth/notice.ts';
import { checkOwnChange } from '../../lib/auth/own-change.ts';
import * as contract from '../../lib/contract/users.ts';
import { selfOrAdmin } from '../../lib/http/access.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { sourceOf } from '../../lib/http/request.ts';
import { updateUser } from '../../lib/users/changes.ts';
import { hashPassword } from '../../lib/users/password.ts';
import { parseUserChanges, type UserChanges } from '../../lib/users/schema.ts';
import type { User } from '../../lib/users/user.ts';
import { parseUserId } from '../../lib/users/user.ts';

/** What the entry says of a change: the names of the fields, and of a role its values. */
const detailsOf = (changes: UserChanges, before: User) => ({
  fields: Object.keys(changes),
  ...(changes.role && changes.role !== before.role
    ? { role: { from: before.role, to: changes.role } }
    : {}),
});

/** PUT /api/users/{id} */
export const handler = endpoint(contract.updateUser, selfOrAdmin, async (request) => {
  const { body, claims, pathParameters } = request;
  const changes = parseUserChanges(body, claims.role);
  const id = parseUserId(pathParameters?.id);
  const source = sourceOf(request);
  const change = {
    ...source,
    action: 'UPDATE',
    user_id: claims.id,
    resource_id: id,
  } as const;
  const own = { id, changes, currentPassword: body.currentPassword, sourceIp: source.ip_address };
  const itself =
    id === claims.id
      ? await recordingFaults(change, () => checkOwnChange(own, request.caller))
      : undefined;
  const { password, ...rest } = changes;
  const hashed = password === undefined ? {} : { password_hash: await hashPassword(password) };
  const author = { grantor: claims.id, ...(itself ? { itself } : {}) };
  const { before, after } = await recordingFaults(change, () =>
    updateUser(id, { ...rest, ...hashed }, author),
  );
  await Promise.all([
    record({ ...change, result: 'SUCCESS', details: detailsOf(changes, before) }),
    noticeChange(before, changes, source),
  ]);
  return { statusCode: 200, body: after };
});
