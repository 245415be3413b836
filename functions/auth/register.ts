import { register } from '../../lib/accounts/register.ts';
import { permittingEndpoint } from '../../lib/http/access.ts';
import * as contract from './contract.ts';

export const handler = permittingEndpoint(contract.register, async (request) => {
  const tokens = await register(request.body, request.source);
  return { statusCode: 201, body: { message: 'User registered successfully', ...tokens } };
});
