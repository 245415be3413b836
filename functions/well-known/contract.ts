/** The documents with which other services verify tokens. They exist if tokens are signed with a key. */
import * as v from 'valibot';
import type { Contract, Descriptions } from '../../lib/contract/contract.ts';
import { named } from '../../lib/contract/schemas.ts';
import type { ServiceValues } from '../../lib/ground/settings.ts';

const forAnyone = {
  exists: ({ tokenSigning }: ServiceValues) => tokenSigning === 'RS256',
  may: 'public',
} as const;

export const getIssuer = {
  route: 'GET /.well-known/openid-configuration',
  ...forAnyone,
} as const satisfies Contract;

export const getKeys = {
  route: 'GET /.well-known/jwks.json',
  ...forAnyone,
} as const satisfies Contract;

export const tag = 'Accounts';

export const descriptions: Descriptions = {
  getIssuer: () => ({
    id: 'getIssuer',
    summary: 'Get the issuer of tokens',
    success: {
      status: 200,
      description: 'The issuer.',
      schema: named('TokenIssuer', tokenIssuer()),
    },
  }),

  getKeys: () => ({
    id: 'getKeys',
    summary: 'Get the keys of tokens',
    success: {
      status: 200,
      description: 'A JSON Web Key Set.',
      schema: named('TokenKeySet', v.object({ keys: v.array(tokenKey()) })),
    },
  }),
};

function tokenIssuer() {
  return v.object({
    issuer: v.string(),
    jwks_uri: v.string(),
    id_token_signing_alg_values_supported: v.array(v.string()),
    subject_types_supported: v.array(v.string()),
    response_types_supported: v.array(v.string()),
  });
}

function tokenKey() {
  return named('TokenKey', v.record(v.string(), v.string()));
}
