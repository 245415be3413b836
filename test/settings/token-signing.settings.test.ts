import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { afterAll, describe, expect, it } from 'vitest';
import { handler as login } from '../../functions/auth/login.ts';
import { handler as refresh } from '../../functions/auth/refresh.ts';
import { handler as registration } from '../../functions/auth/register.ts';
import { handler as profile } from '../../functions/profile/get.ts';
import { entriesOf, outcome, refusal, serviceForThisFile } from '../support/acceptance.ts';
import { register, uniqueEmail } from '../support/client.ts';
import { startKms } from '../support/kms.ts';
import { proxiedServiceForThisFile } from '../support/proxied-service.ts';
import { invoke, stubSettings } from './invoke.ts';

type Tokens = Readonly<Record<'token' | 'refreshToken', string>>;

const sessions = { SESSION_DAYS: '1', TOKEN_MINUTES: '60' };
const { proxy, service: bySecret, admin } = await proxiedServiceForThisFile(sessions);
const { api, url, admin: root } = await serviceForThisFile({ TOKEN_SIGNING: 'RS256', ...sessions });
const issuer = url.replace('127.0.0.1', 'localhost');

describe('With TOKEN_SIGNING=RS256,', () => {
  it('other services find the keys, and verify the tokens of registration, login and refresh', async () => {
    // No request can influence the issuer.
    const headers = { 'x-forwarded-host': 'attacker.example', forwarded: 'host=attacker.example' };
    const found = await api('GET', '/.well-known/openid-configuration', { headers });
    const account = await register(api);
    const { body } = await api('POST', '/api/login', { json: account, headers });
    const { refreshToken } = body;
    const refreshed = await api('POST', '/api/refresh', { json: { refreshToken }, headers });

    expect(found.body).toMatchObject({ issuer, jwks_uri: `${issuer}/.well-known/jwks.json` });
    const keys = createRemoteJWKSet(new URL(found.body.jwks_uri));
    for (const token of [account.token, body.token, refreshed.body.token]) {
      const options = { issuer, audience: issuer, typ: 'at+jwt', algorithms: ['RS256'] };
      const { payload } = await jwtVerify(token, keys, options);
      expect(payload).toMatchObject({ id: account.id, role: 'user', sub: String(account.id) });
      expect(Number(payload.exp) - Number(payload.iat)).toBe(3600);
      expect((await api('GET', '/api/profile', { token })).status).toBe(200);
    }
  });

  it('the keys are public, may be cached for five minutes, and contain no private part', async () => {
    const { body: session } = await api('POST', '/api/login', { json: root });
    const { status, headers, body } = await api('GET', '/.well-known/jwks.json');

    const { kid } = decodeProtectedHeader(session.token);
    const members = { kty: 'RSA', e: 'AQAB', alg: 'RS256', use: 'sig', kid, n: expect.any(String) };
    expect([status, headers.get('cache-control')]).toEqual([200, 'public, max-age=300']);
    expect(body).toEqual({ keys: [members] });
  });

  it('a token of the other algorithm is refused by both services, and with HS256 no keys are published', async () => {
    const { token } = await register(api);
    const answers = await Promise.all([
      api('GET', '/api/profile', { token: admin }),
      bySecret.api('GET', '/api/profile', { token }),
      bySecret.api('GET', '/.well-known/jwks.json'),
      bySecret.api('GET', '/.well-known/openid-configuration'),
    ]);

    const invalid = refusal(401, 'Invalid token');
    expect(answers.slice(0, 2).map(outcome)).toEqual([invalid, invalid]);
    expect(answers.slice(2).map(({ status }) => status)).toEqual([404, 404]);
  });
});

describe('With a key in KMS,', async () => {
  const account = await register(bySecret.api);
  const kms = await startKms();
  afterAll(kms.stop);
  const key = kms.makeKey();
  stubSettings(bySecret, {
    ...kms.environment,
    TOKEN_SIGNING: 'RS256',
    TOKEN_SIGNING_KEY: key,
    TOKEN_KEYS: 'alias/accounts/token-signing-',
    API_URL: issuer,
  });
  const logIn = async () => (await invoke(login, { json: account }))[1] as Tokens;
  const read = (token: string) =>
    invoke(profile, { method: 'GET', headers: { authorization: `Bearer ${token}` } });
  const requests = async (work: () => Promise<unknown>) => {
    proxy.forget();
    kms.requests.length = 0;
    await work();
    return [proxy.requests.map(({ operation }) => operation).sort(), kms.requests.slice()];
  };

  it('a login sends one request to KMS and no further request to the store, and a profile sends neither', async () => {
    const json = account;
    const [stored] = await requests(() => bySecret.api('POST', '/api/login', { json }));
    const { token } = await logIn();

    expect(await requests(logIn)).toEqual([stored, [`Sign ${key}`]]);
    expect((await requests(() => read(token)))[1]).toEqual([]);
  });

  it('an app that refreshes stays logged in when the algorithm changes and when it changes back', async () => {
    const ours = async (token: string) => (await read(token))[0];
    const secrets = async (token: string) =>
      (await bySecret.api('GET', '/api/profile', { token })).status;
    const before = await register(bySecret.api);
    const [, keyed] = await invoke(refresh, { json: { refreshToken: before.refreshToken } });
    const { token, refreshToken } = keyed as Tokens;
    const { body: after } = await bySecret.api('POST', '/api/refresh', { json: { refreshToken } });

    expect([await ours(before.token), await ours(token), await ours(after.token)]).toEqual([
      401, 200, 401,
    ]);
    expect([await secrets(token), await secrets(after.token)]).toEqual([401, 200]);
  });

  it('all routes that issue tokens respond with 500 while KMS fails, and other requests still work', async () => {
    const { token, refreshToken } = await logIn();
    kms.fault = () => 'reset';
    const agent = 'while KMS is away';
    const fresh = { name: 'New', email: uniqueEmail(), password: 'new' };
    const ask = (handler: Parameters<typeof invoke>[0], json: object) =>
      invoke(handler, { json, userAgent: agent });

    const answers = [
      await ask(login, account),
      await ask(registration, fresh),
      await ask(refresh, { refreshToken }),
    ];

    const fault = { message: 'No token provided, please try again', err: expect.any(String) };
    expect(answers).toEqual([
      [500, fault],
      [500, fault],
      [500, fault],
    ]);
    expect((await read(token))[0]).toBe(200);
    expect(await entriesOf({ ...bySecret, adminToken: admin }, agent)).toMatchObject([
      { action: 'LOGIN', result: 'FAILURE', details: '{"reason":"no_token"}' },
      { action: 'CREATE', result: 'FAILURE', details: '{"error":"ECONNRESET"}' },
      { user_id: account.id, action: 'LOGIN', result: 'FAILURE', details: '{"reason":"no_token"}' },
    ]);
  });
});
