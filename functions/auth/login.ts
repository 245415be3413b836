import { logIn } from '../../lib/accounts/log-in.ts';
import { countingEndpoint } from '../../lib/http/backend.ts';
import * as contract from './contract.ts';

export const handler = countingEndpoint(contract.login, async (request) => {
  const tokens = await logIn(request.body, request.source);
  return { statusCode: 200, body: { message: 'Login successful', ...tokens } };
});
