import { record, recordingFaults } from '../../lib/audit/record.ts';
import * as contract from '../../lib/contract/users.ts';
import { usersMayCreate } from '../../lib/http/access.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { sourceOf } from '../../lib/http/request.ts';
import { logAdminMade, requireAdmin } from '../../lib/users/admins.ts';
import { creationDetails } from '../../lib/users/audit-details.ts';
import { toUser } from '../../lib/users/items.ts';
import { parseNewUserBy } from '../../lib/users/schema.ts';
import { insertUser, prepareUser } from '../../lib/users/store.ts';

/** POST /api/users */
export const handler = endpoint(contract.createUser, usersMayCreate, async (request) => {
  const { body, claims } = request;
  const { role, ...newUser } = parseNewUserBy(claims.role, body);
  const source = sourceOf(request);
  const attempt = { ...source, action: 'CREATE', user_id: claims.id } as const;
  const user = await recordingFaults(attempt, () =>
    prepareUser(newUser, role, { isVerified: claims.role === 'admin' }),
  );
  const creation = { ...attempt, resource_id: user.id, details: creationDetails(user) };
  const required = role === 'admin' ? [requireAdmin(claims.id)] : [];
  const made = role === 'admin' ? user : { ...user, made_by: claims.id };
  await recordingFaults(creation, () => insertUser(made, required));
  if (role === 'admin') logAdminMade(user.id, { by: claims.id, requestId: source.request_id });
  await record({ ...creation, result: 'SUCCESS' });
  return { statusCode: 201, body: toUser({ ...user }) };
});
