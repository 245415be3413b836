import {
  linkIdentity,
  unlinkIdentity,
  unlinkOwnIdentity,
} from '../../lib/accounts/link-identity.ts';
import { logInByIdentity } from '../../lib/accounts/log-in-by-identity.ts';
import { shownIdentity } from '../../lib/accounts/user-response.ts';
import { ownRequest, protectedEndpoint, requireBearer } from '../../lib/http/access.ts';
import { countingEndpoint } from '../../lib/http/backend.ts';
import { publicEndpoint } from '../../lib/http/endpoint.ts';
import { routes } from '../../lib/http/routes.ts';
import { makeNonce } from '../../lib/keys/nonce.ts';
import { forIdToken } from '../../lib/options/identities/id-token.ts';
import * as contract from './contract.ts';

/** One function serves all endpoints of identities, so that each process reads the keys of an issuer only once. */
export const handler = routes(
  publicEndpoint(contract.makeNonce, async () => ({
    statusCode: 200,
    body: { nonce: await makeNonce(forIdToken) },
  })),

  countingEndpoint(contract.logIn, async (request) => {
    const { tokens, isNew } = await logInByIdentity(request.body, request.source);
    const message = isNew ? 'User registered successfully' : 'Login successful';
    return { statusCode: isNew ? 201 : 200, body: { message, ...tokens } };
  }),

  protectedEndpoint(contract.list, (request) => {
    const { identities = [] } = requireBearer(request);
    return { statusCode: 200, body: { data: identities.map(shownIdentity) } };
  }),

  protectedEndpoint(contract.link, async (request) => {
    const { idToken, nonce, currentIdToken, currentNonce, ...others } = ownRequest(request);
    const confirmation = { ...others, idToken: currentIdToken, nonce: currentNonce };
    const identity = await linkIdentity({ idToken, nonce }, confirmation);
    return { statusCode: 201, body: shownIdentity(identity) };
  }),

  protectedEndpoint(contract.unlink, async (request) => {
    await unlinkOwnIdentity(request.pathParameters?.identity, ownRequest(request));
    return { statusCode: 204 };
  }),

  protectedEndpoint(contract.unlinkOfUser, async (request) => {
    const { claims, id, pathParameters, source } = request;
    const by = { admin: claims.id, id, source };
    await unlinkIdentity(by, pathParameters?.identity);
    return { statusCode: 204 };
  }),
);
