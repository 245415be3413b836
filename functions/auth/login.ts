import { logIn } from '../../lib/accounts/log-in.ts';
import { countingEndpoint } from '../../lib/http/backend.ts';
import { sourceOf } from '../../lib/http/request.ts';
import * as contract from './contract.ts';

export const handler = countingEndpoint(contract.login, async (request) => {
  const tokens = await logIn(request.body, sourceOf(request));
  return { statusCode: 200, body: { message: 'Login successful', ...tokens } };
});
