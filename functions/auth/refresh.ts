import { refreshSession } from '../../lib/auth/refresh.ts';
import * as contract from '../../lib/contract/sessions.ts';
import { anyone, endpoint } from '../../lib/http/endpoint.ts';
import { sourceOf } from '../../lib/http/request.ts';

/** POST /api/refresh */
export const handler = endpoint(contract.refresh, anyone, async (request) => {
  const tokens = await refreshSession(request.body.refreshToken, sourceOf(request));
  return { statusCode: 200, body: { message: 'Token refreshed', ...tokens } };
});
