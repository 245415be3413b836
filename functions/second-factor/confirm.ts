import { confirmEnrolment } from '../../lib/accounts/change-factor.ts';
import { ownRequest, protectedEndpoint } from '../../lib/http/access.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.confirm, async (request) => {
  const recoveryCodes = await confirmEnrolment(ownRequest(request));
  return { statusCode: 200, body: { recoveryCodes } };
});
