import { audited } from '../../lib/audit/record.ts';
import { protectedEndpoint } from '../../lib/http/access.ts';
import { sourceOf } from '../../lib/http/request.ts';
import { notifyOfDeletion } from '../../lib/mail/hand-over.ts';
import { deleteUser } from '../../lib/users/deletion.ts';
import { deletionDetails } from '../../lib/users/user.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.remove, async (request) => {
  const { id } = request;
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
