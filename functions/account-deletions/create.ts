import { audited } from '../../lib/audit/record.ts';
import { confirm } from '../../lib/auth/factor-changes.ts';
import { protectedEndpoint, requireBearer } from '../../lib/http/access.ts';
import { sourceOf } from '../../lib/http/request.ts';
import { notifyOfDeletion } from '../../lib/mail/hand-over.ts';
import { deleteUnlessLastAdmin } from '../../lib/users/deletion.ts';
import { deletionDetails } from '../../lib/users/user.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.create, async (request) => {
  const caller = requireBearer(request);
  const { id } = caller;
  const source = sourceOf(request);
  const deletion = { ...source, action: 'DELETE', user_id: id, resource_id: id } as const;
  const confirmation = { ...request.body, sourceIp: source.ip_address };
  const deleted = await audited(deletion, async (entry) => {
    const confirmed = await confirm(caller, confirmation);
    const user = await deleteUnlessLastAdmin(confirmed.user, confirmed.check);
    entry.details = deletionDetails(user);
    return user;
  });
  await notifyOfDeletion(deleted, source);
  return { statusCode: 204 };
});
