import { resetPassword } from '../../lib/accounts/reset.ts';
import { publicEndpoint } from '../../lib/http/endpoint.ts';
import { sourceOf } from '../../lib/http/request.ts';
import * as contract from './contract.ts';

export const handler = publicEndpoint(contract.set, async (request) => {
  await resetPassword(request.body, sourceOf(request));
  return { statusCode: 204 };
});
