import { audited } from '../../lib/audit/record.ts';
import * as contract from '../../lib/contract/users.ts';
import { adminOnly } from '../../lib/http/access.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { sourceOf } from '../../lib/http/request.ts';
import { notifyOfDeletion } from '../../lib/mail/hand-over.ts';
import { deletionDetails } from '../../lib/users/audit-details.ts';
import { deleteUser } from '../../lib/users/deletion.ts';
import { parseUserId } from '../../lib/users/user.ts';

/** DELETE /api/users/{id} */
export const handler = endpoint(contract.deleteUser, adminOnly, async (request) => {
  const id = parseUserId(request.pathParameters?.id);
  const source = sourceOf(request);
  const deletion = {
    ...source,
    action: 'DELETE',
    user_id: request.claims.id,
    resource_id: id,
  } as const;
  const deleted = await audited(deletion, async (entry) => {
    const user = await deleteUser(id);
    entry.details = deletionDetails(user);
    return user;
  });
  await notifyOfDeletion(deleted, source);
  return { statusCode: 204 };
});
