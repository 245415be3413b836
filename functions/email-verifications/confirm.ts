import { verifyAddress } from '../../lib/accounts/verify-address.ts';
import { publicEndpoint } from '../../lib/http/endpoint.ts';
import { sourceOf } from '../../lib/http/request.ts';
import * as contract from './contract.ts';

export const handler = publicEndpoint(contract.confirm, async (request) => {
  await verifyAddress(request.body, sourceOf(request));
  return { statusCode: 204 };
});
