import { parseCredentials } from '../../lib/auth/credentials.ts';
import { logIn } from '../../lib/auth/log-in.ts';
import * as contract from '../../lib/contract/accounts.ts';
import { anyone, endpoint } from '../../lib/http/endpoint.ts';
import { sourceOf } from '../../lib/http/request.ts';

/** POST /api/login */
export const handler = endpoint(contract.logIn, anyone, async (request) => {
  const { body } = request;
  const login = { ...parseCredentials(body), code: body.code };
  const tokens = await logIn(login, sourceOf(request));
  return { statusCode: 200, body: { message: 'Login successful', ...tokens } };
});
