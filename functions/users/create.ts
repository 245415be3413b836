import { audited } from '../../lib/audit/record.ts';
import { protectedEndpoint } from '../../lib/http/access.ts';
import { sourceOf } from '../../lib/http/request.ts';
import { logAdminMade } from '../../lib/log.ts';
import { toUser } from '../../lib/users/items.ts';
import { insertUser, prepareUser } from '../../lib/users/store.ts';
import { creationDetails } from '../../lib/users/user.ts';
import { requireAdmin } from '../../lib/users/write.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.create, async (request) => {
  const { body, claims } = request;
  const role = body.role ?? 'user';
  const source = sourceOf(request);
  const creation = { ...source, action: 'CREATE', user_id: claims.id } as const;
  const user = await audited(creation, async (entry) => {
    const made = await prepareUser(body, role, { isVerified: claims.role === 'admin' });
    entry.resource_id = made.id;
    entry.details = creationDetails(made);
    if (role === 'admin') await insertUser(made, [requireAdmin(claims.id)]);
    else await insertUser({ ...made, made_by: claims.id });
    return made;
  });
  if (role === 'admin') logAdminMade(user.id, { by: claims.id, requestId: source.request_id });
  return { statusCode: 201, body: toUser(user) };
});
