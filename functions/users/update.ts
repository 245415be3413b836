import { selfOrAdmin } from '../../lib/access.ts';
import { record } from '../../lib/audit/record.ts';
import { endpoint } from '../../lib/endpoint.ts';
import { updateUser } from '../../lib/users/changes.ts';
import { hashPassword } from '../../lib/users/password.ts';
import { parseUserChanges, parseUserId } from '../../lib/users/schema.ts';

/** PUT /api/users/{id} */
export const handler = endpoint(
  {
    access: selfOrAdmin,
    body: 'json',
    storageFault: ['Error updating user', 'err'],
  },
  async (request) => {
    const { body, claims, pathParameters } = request;
    const changes = parseUserChanges(body, claims.role);
    const id = parseUserId(pathParameters?.id);
    const { password, ...rest } = changes;
    const hashed = password === undefined ? {} : { password_hash: await hashPassword(password) };
    const user = await updateUser(id, { ...rest, ...hashed });
    await record(request, {
      action: 'UPDATE',
      user_id: claims.id,
      resource_id: id,
      result: 'SUCCESS',
      details: { fields: Object.keys(changes) },
    });
    return { statusCode: 200, body: user };
  },
);
