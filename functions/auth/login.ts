import { logIn } from '../../lib/accounts/log-in.ts';
import { publicEndpoint } from '../../lib/http/endpoint.ts';
import { sourceOf } from '../../lib/http/request.ts';
import * as contract from './contract.ts';

export const handler = publicEndpoint(contract.login, async (request) => {
  const tokens = await logIn(request.body, sourceOf(request));
  return { statusCode: 200, body: { message: 'Login successful', ...tokens } };
});
