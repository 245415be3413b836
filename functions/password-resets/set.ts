import * as contract from '../../lib/contract/password-resets.ts';
import { anyone, endpoint } from '../../lib/http/endpoint.ts';
import { sourceOf } from '../../lib/http/request.ts';
import { resetPassword } from '../../lib/links/reset.ts';
import { parsePasswordReset } from '../../lib/users/schema.ts';

/** PUT /api/password-resets */
export const handler = endpoint(contract.resetPassword, anyone, async (request) => {
  await resetPassword(parsePasswordReset(request.body), sourceOf(request));
  return { statusCode: 204 };
});
