/** The documents with which other services verify tokens. One function serves both, and reads the keys only once. */
import { publicEndpoint } from '../../lib/http/endpoint.ts';
import { routes } from '../../lib/http/routes.ts';
import { tokenKeys } from '../../lib/keys/signing-key.ts';
import { issued } from '../../lib/keys/token.ts';
import * as contract from './contract.ts';

export const handler = routes(
  publicEndpoint(contract.getIssuer, () =>
    cacheable({
      issuer: issued().issuer,
      jwks_uri: `${issued().issuer}/.well-known/jwks.json`,
      id_token_signing_alg_values_supported: ['RS256'],
      subject_types_supported: ['public'],
      response_types_supported: [],
    }),
  ),

  publicEndpoint(contract.getKeys, async () =>
    cacheable({ keys: (await tokenKeys()).map(({ published }) => published) }),
  ),
);

/** Other services cache the documents for five minutes, and a rotation of keys waits as long. */
function cacheable(body: object) {
  return { statusCode: 200, headers: { 'Cache-Control': 'public, max-age=300' }, body };
}
