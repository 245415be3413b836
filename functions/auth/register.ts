import { requireAllowed } from '../../lib/accounts/policy.ts';
import { register } from '../../lib/accounts/register.ts';
import { publicEndpoint } from '../../lib/http/endpoint.ts';
import { sourceOf } from '../../lib/http/request.ts';
import * as contract from './contract.ts';

export const handler = publicEndpoint(
  contract.register,
  async (request) => {
    const tokens = await register(request.body, sourceOf(request));
    return { statusCode: 201, body: { message: 'User registered successfully', ...tokens } };
  },
  undefined,
  (_, given) => requireAllowed('register', { isSelf: false, mayBeMaker: false }, given),
);
