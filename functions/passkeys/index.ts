import {
  addPasskey,
  beginPasskey,
  removePasskey,
  renamePasskey,
} from '../../lib/accounts/change-passkeys.ts';
import { logInByPasskey } from '../../lib/accounts/log-in-by-passkey.ts';
import { config } from '../../lib/ground/settings.ts';
import { ownRequest, protectedEndpoint, requireBearer } from '../../lib/http/access.ts';
import { countingEndpoint } from '../../lib/http/backend.ts';
import { publicEndpoint } from '../../lib/http/endpoint.ts';
import { routes } from '../../lib/http/routes.ts';
import { loginOptions } from '../../lib/options/passkeys/credential.ts';
import { relyingParty, shownPasskeys } from '../../lib/options/passkeys/passkeys.ts';
import * as contract from './contract.ts';

/** One function serves all endpoints of passkeys, so that the code which verifies them is loaded once. */
export const handler = routes(
  publicEndpoint(contract.loginOptions, async () => ({
    statusCode: 200,
    body: await loginOptions(),
  })),

  countingEndpoint(contract.logIn, async (request) => {
    const tokens = await logInByPasskey(request.body.credential, request.source);
    return { statusCode: 200, body: { message: 'Login successful', ...tokens } };
  }),

  protectedEndpoint(contract.list, async (request) => {
    const caller = requireBearer(request);
    const { passkey_handle: user_handle = null } = caller;
    const data = await shownPasskeys(caller.passkeys);
    return { statusCode: 200, body: { data, user_handle, rp_id: relyingParty().rpId } };
  }),

  protectedEndpoint(contract.options, async (request) => {
    const product = config.productName || request.requestContext.domainName;
    return { statusCode: 200, body: await beginPasskey(ownRequest(request), product) };
  }),

  protectedEndpoint(contract.add, async (request) => {
    return { statusCode: 201, body: await addPasskey(ownRequest(request)) };
  }),

  protectedEndpoint(contract.rename, async (request) => {
    const renamed = await renamePasskey(request.pathParameters?.passkey, ownRequest(request));
    const [passkey] = await shownPasskeys([renamed]);
    return { statusCode: 200, body: passkey };
  }),

  protectedEndpoint(contract.remove, async (request) => {
    await removePasskey(request.pathParameters?.passkey, ownRequest(request));
    return { statusCode: 204 };
  }),
);
