import { refreshSession } from '../../lib/accounts/refresh.ts';
import { countingEndpoint } from '../../lib/http/backend.ts';
import * as contract from './contract.ts';

export const handler = countingEndpoint(contract.refresh, async (request) => {
  const tokens = await refreshSession(request.body.refreshToken, request.source);
  return { statusCode: 200, body: { message: 'Token refreshed', ...tokens } };
});
