import { resetPassword } from '../../lib/accounts/reset.ts';
import { countingEndpoint } from '../../lib/http/backend.ts';
import * as contract from './contract.ts';

export const handler = countingEndpoint(contract.set, async (request) => {
  await resetPassword(request.body, request.source);
  return { statusCode: 204 };
});
