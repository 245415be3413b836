import { recording } from '../../lib/audit/record.ts';
import { protectedEndpoint } from '../../lib/http/access.ts';
import { sourceOf } from '../../lib/http/request.ts';
import { suspendUser } from '../../lib/options/suspension/suspension.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.suspend, async (request) => {
  const { claims, id } = request;
  const suspension = {
    source: sourceOf(request),
    action: 'UPDATE',
    by: claims.id,
    on: id,
    details: { suspended: true },
  } as const;
  await recording(suspension, async () => ({ isChanged: await suspendUser(id) }));
  return { statusCode: 204 };
});
