/** Services that verify tokens by the code of functions/CLIENTS.md, as it stands there. */
import { execFile } from 'node:child_process';
import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpUrlIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import { describe, expect, it } from 'vitest';
import { register } from '../../support/client.ts';
import { operatedServiceForThisFile } from '../../support/operator.ts';
import { pythonProgram } from '../../support/python.ts';
import { signToken, signTokenWithKey } from '../../support/tokens.ts';

const service = await operatedServiceForThisFile({
  TOKEN_SIGNING: 'RS256',
  TOKEN_MINUTES: '5',
  SESSION_DAYS: '1',
});
const account = await register(service.api);
const caller = { id: account.id, role: 'user' };

const key = createPrivateKey(readFileSync(join(service.folder, 'token-key-first')));
const [header, claims] = [decodeProtectedHeader(account.token), decodeJwt(account.token)];
const { iss: issuer = '' } = claims;
const pem = String(createPublicKey(key).export({ type: 'spki', format: 'pem' }));
const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const wrong = [
  ['for another audience', signTokenWithKey({ ...claims, aud: 'another' }, key, header)],
  ['of another issuer', signTokenWithKey({ ...claims, iss: 'https://x.example' }, key, header)],
  ['that has expired', signTokenWithKey({ ...claims, iat: 1, exp: 2 }, key, header)],
  ['that a stranger signed', signTokenWithKey(claims, stranger, header)],
  ['signed with the public key as a secret', signToken(claims, pem, { ...header, alg: 'HS256' })],
] as const;

const folder = resolve('.contract/services');
mkdirSync(folder, { recursive: true });
/** Writes the code that has a text, for the running service. @returns its file */
const write = (text: string, name: string): string => {
  const blocks = readFileSync('functions/CLIENTS.md', 'utf8').matchAll(/^```\w+\n(.*?)^```$/gms);
  const code = [...blocks].map(([, block = '']) => block).find((block) => block.includes(text));
  const file = join(folder, name);
  writeFileSync(file, String(code).replace('http://localhost:3000', issuer));
  return file;
};

const packages = {
  requirements: 'test/contract/generated/requirements.txt',
  folder: '.contract/pyjwt',
};
const script = `
import json, sys
sys.path.insert(0, sys.argv[1])
from services import caller_of
print(json.dumps(caller_of(sys.argv[2])))
`;

/** What each calls the caller of a token. Rejects when it refuses the token. */
const services = {
  'by jose': async () => (await import(write('createRemoteJWKSet', 'jose.ts'))).callerOf,
  'by PyJWT': async () => {
    write('PyJWKClient', 'services.py');
    const python = pythonProgram('python', packages);
    const run = promisify(execFile);
    return async (token: string) =>
      JSON.parse((await run(python, ['-c', script, folder, token])).stdout);
  },
  /** As API Gateway verifies what its authorizer is told (JWT authorizers, Authorizing API requests). */
  'by an authorizer of API Gateway': async () => {
    const { authorizer } = await import(write('HttpJwtAuthorizer', 'authorizer.ts'));
    const stack = new Stack(new App());
    const integration = new HttpUrlIntegration('Backend', 'https://backend.example.com');
    new HttpApi(stack, 'Api').addRoutes({ path: '/', integration, authorizer });
    const resources = Template.fromStack(stack).findResources('AWS::ApiGatewayV2::Authorizer');
    const [resource] = Object.values(resources);
    const { Issuer, Audience } = resource?.Properties.JwtConfiguration ?? {};
    const response = await fetch(`${Issuer}/.well-known/openid-configuration`);
    const { jwks_uri: url } = (await response.json()) as { jwks_uri: string };
    const keys = createRemoteJWKSet(new URL(url));
    return async (token: string) => {
      const expected = { issuer: Issuer, audience: Audience, algorithms: ['RS256'] };
      const { payload } = await jwtVerify(token, keys, expected);
      return { id: Number(payload.sub), role: payload.role };
    };
  },
};

describe.each(Object.entries(services))('A service that verifies tokens %s', async (_, open) => {
  const callerOf = await open();

  it('knows the caller', async () => {
    expect(await callerOf(account.token)).toEqual(caller);
  });

  it.each(wrong)('refuses a token %s', async (_, token) => {
    await expect(callerOf(token)).rejects.toThrow();
  });
});
