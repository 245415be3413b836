import { audited } from '../../lib/audit/record.ts';
import * as contract from '../../lib/contract/users.ts';
import { usersMayCreate } from '../../lib/http/access.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { sourceOf } from '../../lib/http/request.ts';
import { logAdminMade } from '../../lib/log.ts';
import { creationDetails } from '../../lib/users/audit-details.ts';
import { toUser } from '../../lib/users/items.ts';
import { parseNewUserBy } from '../../lib/users/schema.ts';
import { insertUser, prepareUser } from '../../lib/users/store.ts';
import { requireAdmin } from '../../lib/users/write.ts';

/** POST /api/users */
export const handler = endpoint(contract.createUser, usersMayCreate, async (request) => {
  const { body, claims } = request;
  const { role, ...newUser } = parseNewUserBy(claims.role, body);
  const source = sourceOf(request);
  const creation = { ...source, action: 'CREATE', user_id: claims.id } as const;
  const user = await audited(creation, async (entry) => {
    const made = await prepareUser(newUser, role, { isVerified: claims.role === 'admin' });
    entry.resource_id = made.id;
    entry.details = creationDetails(made);
    if (role === 'admin') await insertUser(made, [requireAdmin(claims.id)]);
    else await insertUser({ ...made, made_by: claims.id });
    return made;
  });
  if (role === 'admin') logAdminMade(user.id, { by: claims.id, requestId: source.request_id });
  return { statusCode: 201, body: toUser(user) };
});
