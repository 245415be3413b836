import { audited } from '../../lib/audit/record.ts';
import { changeUser } from '../../lib/auth/change-user.ts';
import { protectedEndpoint } from '../../lib/http/access.ts';
import { sourceOf } from '../../lib/http/request.ts';
import { logAdminMade } from '../../lib/log.ts';
import { mailPendingLink, notifyOfChange } from '../../lib/mail/hand-over.ts';
import { toUser } from '../../lib/users/items.ts';
import { changeDetails } from '../../lib/users/user.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.update, async (request) => {
  const { body, bearer, claims, id } = request;
  const { currentPassword, idToken, nonce, ...changes } = body;
  const source = sourceOf(request);
  const confirmation = { currentPassword, idToken, nonce, sourceIp: source.ip_address };
  const change = { ...source, action: 'UPDATE', user_id: claims.id, resource_id: id } as const;
  const { before, after, applied, awaitsLink } = await audited(change, async (entry) => {
    const changed = await changeUser({ id, changes, claims, bearer, confirmation });
    const requested = changed.awaitsLink ? { requested: ['email'] } : {};
    entry.details = { ...changeDetails(changed.before, changed.applied), ...requested };
    return changed;
  });
  if (applied.role === 'admin' && before.role !== 'admin') {
    logAdminMade(id, { by: claims.id, requestId: source.request_id });
  }
  await notifyOfChange(before, applied, source);
  if (awaitsLink) await mailPendingLink(after, source, bearer?.session.id);
  return { statusCode: 200, body: toUser(after, claims) };
});
