import { publicEndpoint } from '../../lib/http/endpoint.ts';
import type { Handler } from '../../lib/http/request.ts';
import { tokenKeys } from '../../lib/keys/signing-key.ts';
import { issued } from '../../lib/keys/token.ts';
import * as contract from './contract.ts';

/** Those who verify keep what they read; rotations wait for them. */
const cacheable = (body: object) => ({
  statusCode: 200,
  headers: { 'Cache-Control': 'public, max-age=300' },
  body,
});

const issuer = publicEndpoint(contract.getIssuer, () =>
  cacheable({
    issuer: issued().issuer,
    jwks_uri: `${issued().issuer}/.well-known/jwks.json`,
    id_token_signing_alg_values_supported: ['RS256'],
    subject_types_supported: ['public'],
    response_types_supported: [],
  }),
);

const keys = publicEndpoint(contract.getKeys, async () =>
  cacheable({ keys: (await tokenKeys()).map(({ published }) => published) }),
);

/** GET /.well-known/openid-configuration and /.well-known/jwks.json */
export const handler: Handler = (event, context) =>
  (event.rawPath.endsWith('/jwks.json') ? keys : issuer)(event, context);
