/** Services that verify tokens by accounts-client/verify, and by the code of functions/CLIENTS.md as it stands there. */
import { execFile } from 'node:child_process';
import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpUrlIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import { describe, expect, it } from 'vitest';
import { verifyToken } from '../../functions/client/verify.ts';
import { Accounts } from '../../infra/stack/accounts.ts';
import { withoutBundling } from '../infra/stack/template.ts';
import { serviceForThisFile } from '../support/acceptance.ts';
import { logIn, register } from '../support/client.ts';
import { everySetting } from '../support/every-setting.ts';
import { folderForThisFile } from '../support/folder.ts';
import { mailingServiceForThisFile } from '../support/mailbox.ts';
import { pythonProgram } from '../support/python.ts';
import { snippetWith } from '../support/snippets.ts';
import { outlived, signToken, signTokenWithKey } from '../support/tokens.ts';

const plain = await serviceForThisFile();
const dataFolder = folderForThisFile();
const service = await mailingServiceForThisFile({
  ...everySetting,
  SECOND_FACTOR: 'admins',
  DATA_DIR: dataFolder,
});
const account = await register(service.api);
const caller = { id: account.id, role: 'user' };

const key = createPrivateKey(readFileSync(join(dataFolder, 'token-key-first')));
const [header, claims] = [decodeProtectedHeader(account.token), decodeJwt(account.token)];
const { iss: issuer = '' } = claims;
const pem = String(createPublicKey(key).export({ type: 'spki', format: 'pem' }));
const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const wrong = [
  ['for another audience', signTokenWithKey({ ...claims, aud: 'another' }, key, header)],
  ['of another issuer', signTokenWithKey({ ...claims, iss: 'https://x.example' }, key, header)],
  ['that has expired', outlived(account.token, (past, same) => signTokenWithKey(past, key, same))],
  ['that a stranger signed', signTokenWithKey(claims, stranger, header)],
  ['signed with the public key as a secret', signToken(claims, pem, { ...header, alg: 'HS256' })],
] as const;

/** Ignored by git. */
const folder = resolve('.contract/services');

/** Writes the code that has a text, for a service. @returns its file */
const write = (text: string, name: string, url: string): string => {
  const own = join(folder, new URL(url).port);
  mkdirSync(own, { recursive: true });
  const file = join(own, name);
  writeFileSync(file, snippetWith(text, url));
  return file;
};

const packages = {
  requirements: 'test/contract/requirements-services.txt',
  folder: '.contract/pyjwt',
};
const script = `
import json, sys
sys.path.insert(0, sys.argv[1])
from services import caller_of
print(json.dumps(caller_of(sys.argv[2])))
`;

/** Ways to verify tokens of a service. Each returns the caller of a token, and rejects when it refuses the token. */
const services = {
  'by accounts-client/verify': async (url: string) => async (token: string) => {
    const { data, error } = await verifyToken(token, { url });
    if (error) throw error;
    return { id: data.id, role: data.role };
  },
  'by PyJWT': async (url: string) => {
    const code = write('PyJWKClient', 'services.py', url);
    const python = pythonProgram('python', packages);
    const run = promisify(execFile);
    return async (token: string) =>
      JSON.parse((await run(python, ['-c', script, dirname(code), token])).stdout);
  },
  /** As API Gateway verifies tokens (its documentation of JWT authorizers, Authorizing API requests). */
  'by an authorizer of API Gateway': async (url: string) => {
    const { authorizer } = await import(write('HttpJwtAuthorizer', 'authorizer.ts', url));
    const stack = new Stack(new App());
    const integration = new HttpUrlIntegration('Backend', 'https://backend.example.com');
    new HttpApi(stack, 'Api').addRoutes({ path: '/', integration, authorizer });
    const resources = Template.fromStack(stack).findResources('AWS::ApiGatewayV2::Authorizer');
    const [resource] = Object.values(resources);
    const { Issuer, Audience } = resource?.Properties.JwtConfiguration ?? {};
    return async (token: string) => {
      const response = await fetch(`${Issuer}/.well-known/openid-configuration`);
      const { jwks_uri: keysUrl } = (await response.json()) as { jwks_uri: string };
      const keys = createRemoteJWKSet(new URL(keysUrl));
      const expected = { issuer: Issuer, audience: Audience, algorithms: ['RS256'] };
      const { payload } = await jwtVerify(token, keys, expected);
      return { id: Number(payload.sub), role: payload.role };
    };
  },
};

describe.each(Object.entries(services))('A service that verifies tokens %s', async (_, open) => {
  const callerOf = await open(issuer);

  it('knows the caller', async () => {
    expect(await callerOf(account.token)).toEqual(caller);
  });

  it('regards an admin who logged in by the password alone as a user where admins need a second factor', async () => {
    expect(await callerOf(service.adminToken)).toEqual({ id: 1, role: 'user' });
  });

  it.each(wrong)('refuses a token %s', async (_, token) => {
    await expect(callerOf(token)).rejects.toThrow();
  });

  it('refuses every token under the default settings, because nobody else knows their keys', async () => {
    const { token } = await register(plain.api);
    const callerOfPlain = await open(plain.url);

    for (const each of [token, account.token]) await expect(callerOfPlain(each)).rejects.toThrow();
  });
});

const userAttributes = [
  { name: 'plan', type: 'choice', choices: ['free', 'pro "ü"'], token: true },
  { name: 'seats', type: 'number', token: true },
  { name: 'terms', type: 'boolean', token: true },
  { name: 'note', type: 'text' },
] as const;
const values = { plan: 'pro "ü"', seats: 2.5, terms: true, note: 'not a claim' };
const claimsOfValues = { 'attr:plan': 'pro "ü"', 'attr:seats': 2.5, 'attr:terms': true };
const readClaims = `
import json, sys, jwt
token, algorithm, key = sys.argv[1:]
if algorithm == "RS256":
    key = jwt.PyJWKClient(key).get_signing_key_from_jwt(token)
print(json.dumps(jwt.decode(token, key, algorithms=[algorithm], options={"verify_aud": False})))
`;

/** A user who has attributes, and the part of the claims of a token that is about them. */
const tokenWithAttributes = async ({ api, adminToken: token }: typeof plain) => {
  const user = await register(api);
  const json = { attributes: values };
  expect((await api('PUT', `/api/users/${user.id}`, { token, json })).status).toBe(200);
  return logIn(api, user);
};
const ofAttributes = (claims: object) =>
  Object.fromEntries(Object.entries(claims).filter(([name]) => name.startsWith('attr:')));

describe.each(['RS256', 'HS256'] as const)(
  'The claims of attributes in a token of %s',
  async (algorithm) => {
    const declaring = await serviceForThisFile({
      TOKEN_SIGNING: algorithm,
      USER_ATTRIBUTES: JSON.stringify(userAttributes),
    });
    const { url, jwtSecret } = declaring;
    const token = await tokenWithAttributes(declaring);
    const keys = new URL('/.well-known/jwks.json', url);

    it('are read by PyJWT', async () => {
      const python = pythonProgram('python', packages);
      const key = algorithm === 'RS256' ? keys.href : jwtSecret;
      const args = ['-c', readClaims, token, algorithm, key];

      const { stdout } = await promisify(execFile)(python, args);

      expect(ofAttributes(JSON.parse(stdout))).toEqual(claimsOfValues);
    });

    it('are read by jose', async () => {
      const { payload } =
        algorithm === 'RS256'
          ? await jwtVerify(token, createRemoteJWKSet(keys))
          : await jwtVerify(token, new TextEncoder().encode(jwtSecret));

      expect(ofAttributes(payload)).toEqual(claimsOfValues);
    });

    it.runIf(algorithm === 'RS256')(
      'reach a function behind an authorizer of the construct as text',
      async () => {
        const app = new App({ context: withoutBundling, builtinCloudFormationValidation: false });
        const stack = new Stack(app);
        const { iss: tokenIssuer } = decodeJwt(token);
        const settings = { tokenSigning: algorithm, tokenIssuer, userAttributes };
        const authorizer = new Accounts(stack, 'Accounts', settings).authorizer('Orders');
        const integration = new HttpUrlIntegration('Backend', 'https://backend.example.com');
        new HttpApi(stack, 'Api').addRoutes({ path: '/', integration, authorizer });
        const found = Template.fromStack(stack).findResources('AWS::ApiGatewayV2::Authorizer');
        const [{ Properties } = {}] = Object.values(found);
        const { Issuer: issuedBy, Audience: audience } = Properties.JwtConfiguration;

        // As API Gateway does: it verifies the token, and puts each claim into the event as text.
        const { payload } = await jwtVerify(token, createRemoteJWKSet(keys), {
          issuer: issuedBy,
          audience,
        });
        const claims = Object.fromEntries(
          Object.entries(payload).map(([claim, value]) => [claim, String(value)]),
        );

        expect(Properties.AuthorizerType).toBe('JWT');
        expect(ofAttributes(claims)).toEqual({
          'attr:plan': 'pro "ü"',
          'attr:seats': '2.5',
          'attr:terms': 'true',
        });
      },
    );
  },
);
