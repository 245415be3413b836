import * as contract from '../../lib/contract/email-verifications.ts';
import { anyone, endpoint } from '../../lib/http/endpoint.ts';
import { sourceOf } from '../../lib/http/request.ts';
import { verifyAddress } from '../../lib/links/verify-address.ts';
import { parseEmailVerification } from '../../lib/users/fields.ts';

/** PUT /api/email-verifications */
export const handler = endpoint(contract.verifyEmail, anyone, async (request) => {
  await verifyAddress(parseEmailVerification(request.body), sourceOf(request));
  return { statusCode: 204 };
});
