import { recording } from '../../lib/audit/record.ts';
import { protectedEndpoint } from '../../lib/http/access.ts';
import { sourceOf } from '../../lib/http/request.ts';
import { liftSuspension } from '../../lib/options/suspension/suspension.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.lift, async (request) => {
  const { claims, id } = request;
  const lifting = {
    source: sourceOf(request),
    action: 'UPDATE',
    by: claims.id,
    on: id,
    details: { suspended: false },
  } as const;
  await recording(lifting, async () => ({ isChanged: await liftSuspension(id, claims.id) }));
  return { statusCode: 204 };
});
