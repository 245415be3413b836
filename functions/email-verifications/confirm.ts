import { verifyAddress } from '../../lib/accounts/verify-address.ts';
import { countingEndpoint } from '../../lib/http/backend.ts';
import * as contract from './contract.ts';

export const handler = countingEndpoint(contract.confirm, async (request) => {
  await verifyAddress(request.body, request.source);
  return { statusCode: 204 };
});
