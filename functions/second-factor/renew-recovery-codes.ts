import { renewRecoveryCodes } from '../../lib/accounts/change-factor.ts';
import { ownRequest, protectedEndpoint } from '../../lib/http/access.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.renewRecoveryCodes, async (request) => {
  const recoveryCodes = await renewRecoveryCodes(ownRequest(request));
  return { statusCode: 200, body: { recoveryCodes } };
});
