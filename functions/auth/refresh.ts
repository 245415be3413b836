import { refreshSession } from '../../lib/accounts/refresh.ts';
import { publicEndpoint } from '../../lib/http/endpoint.ts';
import { sourceOf } from '../../lib/http/request.ts';
import * as contract from './contract.ts';

export const handler = publicEndpoint(contract.refresh, async (request) => {
  const tokens = await refreshSession(request.body.refreshToken, sourceOf(request));
  return { statusCode: 200, body: { message: 'Token refreshed', ...tokens } };
});
