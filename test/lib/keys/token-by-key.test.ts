import * as crypto from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { calculateJwkThumbprint, decodeJwt, jwtVerify } from 'jose';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { makeTokenKey } from '../../../infra/local/secrets.ts';
import { issueToken, verifyToken } from '../../../lib/keys/token.ts';
import { firstRefreshToken } from '../../../lib/options/sessions/session-tokens.ts';
import { encode, now, signToken, signTokenWithKey } from '../../support/tokens.ts';

const makeKey = () => crypto.createPrivateKey(makeTokenKey());
const [current, next, previous, retired] = [makeKey(), makeKey(), makeKey(), makeKey()];
const folder = mkdtempSync(join(tmpdir(), 'keys-'));
for (const [stage, key] of Object.entries({ current, next, previous })) {
  writeFileSync(join(folder, stage), key.export({ type: 'pkcs8', format: 'pem' }));
}
const issuer = 'https://accounts.example.com';
const secret = crypto.randomUUID();

const settings = { TOKEN_SIGNING: 'RS256', TOKEN_KEYS: `${folder}/`, API_URL: issuer };
for (const [name, value] of Object.entries({ ...settings, JWT_SECRET: secret })) {
  vi.stubEnv(name, value);
}
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

const user = { id: 7, email: 'ada@example.org', role: 'admin' } as const;
const codeOf = (token: string, at = new Date()) =>
  verifyToken(token, { now: at }).then(
    () => 'accepted',
    ({ code }) => code,
  );

const published = crypto.createPublicKey(current);
const kidOf = (key: crypto.KeyObject) =>
  calculateJwkThumbprint(crypto.createPublicKey(key).export({ format: 'jwk' }));
const kid = await kidOf(current);
const header = { alg: 'RS256', typ: 'at+jwt', kid };
const own = { iss: issuer, aud: issuer, sub: '7', jti: crypto.randomUUID() };
const claims = { ...user, iat: now(), exp: now() + 3600, ...own };
/** Tokens that are valid except for the given fields. */
const withHeader = (fields: object, key = current) =>
  signTokenWithKey(claims, key, { ...header, ...fields });
const withClaims = (fields: object, key = current) =>
  signTokenWithKey({ ...claims, ...fields }, key, header);

describe('A token that a key signs', () => {
  it('has the expected claims and header, and others can verify it with the public key', async () => {
    const iat = now();
    const token = await issueToken(user, { now: new Date(iat * 1000), session: 's', pair: 0 });

    const { payload, protectedHeader } = await jwtVerify(token, published);
    expect(protectedHeader).toEqual({ ...header, session: 's', pair: 0 });
    const jti = expect.stringMatching(/^[\da-f-]{36}$/);
    expect(payload).toEqual({ ...claims, iat, exp: iat + 86_400, jti });
    expect(payload.jti).not.toBe(decodeJwt(await issueToken(user)).jti);
    expect(await verifyToken(token)).toEqual({ ...user, iat, exp: iat + 86_400 });
  });

  it('names the issuer and the audience that the settings give', async () => {
    vi.stubEnv('TOKEN_ISSUER', 'https://login.example.com');
    vi.stubEnv('TOKEN_AUDIENCE', 'shop');
    const token = await issueToken(user);

    expect(decodeJwt(token)).toMatchObject({ iss: 'https://login.example.com', aud: 'shop' });
    expect(await codeOf(token)).toBe('accepted');
    vi.stubEnv('TOKEN_ISSUER', '');
    vi.stubEnv('TOKEN_AUDIENCE', '');
    expect(await codeOf(token)).toBe('TOKEN_INVALID');
  });

  it('is valid for TOKEN_MINUTES minutes, like a token that a secret signs', async () => {
    vi.stubEnv('TOKEN_MINUTES', '5');
    const byKey = await issueToken(user, { now: new Date(0) });
    const ends = async (token: string) =>
      [await codeOf(token, new Date(299_999)), await codeOf(token, new Date(300_000))].join();
    expect(await ends(byKey)).toBe('accepted,TOKEN_EXPIRED');
    vi.stubEnv('TOKEN_SIGNING', 'HS256');
    expect(await ends(await issueToken(user, { now: new Date(0) }))).toBe('accepted,TOKEN_EXPIRED');
    // A deployment accepts only one algorithm.
    expect(await codeOf(byKey, new Date(0))).toBe('TOKEN_INVALID');
    vi.stubEnv('TOKEN_MINUTES', '');
    vi.stubEnv('TOKEN_SIGNING', 'RS256');
  });

  it.each([current, next, previous])(
    'is accepted if any of the published keys has signed it',
    async (key) => {
      expect(await codeOf(withHeader({ kid: await kidOf(key) }, key))).toBe('accepted');
    },
  );

  it('is reported as expired only if nothing else is wrong with it', async () => {
    const old = { iat: 0, exp: 1 };

    expect(await codeOf(withClaims(old))).toBe('TOKEN_EXPIRED');
    expect(await codeOf(withClaims({ ...old, iss: 'x' }))).toBe('TOKEN_INVALID');
    expect(await codeOf(withClaims(old, next))).toBe('TOKEN_INVALID');
  });
});

const attacker = crypto.generateKeyPairSync('rsa', { modulusLength: 2048 });
const jwk = { ...attacker.publicKey.export({ format: 'jwk' }), kid, alg: 'RS256', use: 'sig' };
const byAttacker = (fields: object) => withHeader(fields, attacker.privateKey);
const hmac = (key: string | Buffer, fields: object = {}) =>
  signToken(claims, key, { ...header, alg: 'HS256', ...fields });
const pem = String(published.export({ type: 'spki', format: 'pem' }));
const [head, payload, signature] = withHeader({}).split('.') as [string, string, string];
const elliptic = crypto.generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
const each = <T>(values: readonly T[], name: string, token: (value: T) => string) =>
  values.map((value) => [`${name} ${JSON.stringify(value)}`, token(value)] as const);

// biome-ignore format: a table
const hostile: readonly (readonly [string, string])[] = [
  ['HS256 by the public key in PEM', hmac(pem)],
  ['HS256 by the public key in PEM without its last newline', hmac(pem.trim())],
  ['HS256 by the public key in PKCS #1', hmac(String(published.export({ type: 'pkcs1', format: 'pem' })))],
  ['HS256 by the public key in DER', hmac(published.export({ type: 'spki', format: 'der' }))],
  ['HS256 by the public key as a JWK', hmac(JSON.stringify(published.export({ format: 'jwk' })))],
  ['HS256 by the modulus of the public key', hmac(String(published.export({ format: 'jwk' }).n))],
  ['HS256 by a secret, as another service signs', signToken(claims, secret)],
  ['an HMAC whose header claims RS256', hmac(pem, { alg: 'RS256' })],
  ...each(['none', 'None', 'NONE', ''], 'without a signature, alg', (alg) => [encode({ ...header, alg }), payload, ''].join('.')),
  ...each(['none', 'RS512', 'PS256', '', undefined], 'the alg', (alg) => withHeader({ alg })),
  ['ES256 by another key', withHeader({ alg: 'ES256' }, elliptic)],
  ['an unknown key under the kid of a published key', byAttacker({})],
  ['another key than its kid names', withHeader({}, next)],
  ['the kid of another key', withHeader({ kid: await kidOf(next) })],
  ['the kid of a retired key', withHeader({ kid: await kidOf(retired) }, retired)],
  ['an unknown kid', byAttacker({ kid: await kidOf(attacker.privateKey) })],
  ['a kid of 10 KB', byAttacker({ kid: 'k'.repeat(10_240) })],
  ...each(['../../../dev/null', 'alias/x', '__proto__', '', [kid], undefined], 'the kid', (id) => byAttacker({ kid: id })),
  ['an embedded jwk', byAttacker({ jwk })],
  ['a jku', byAttacker({ jku: 'https://attacker.example/jwks.json' })],
  ['an x5u', byAttacker({ x5u: 'https://attacker.example/chain.pem' })],
  ['an x5c', byAttacker({ x5c: [attacker.publicKey.export({ type: 'spki', format: 'der' })] })],
  ['a crit that is unknown', withHeader({ crit: ['exp'], exp: now() })],
  ['an empty crit', withHeader({ crit: [] })],
  ['an unencoded payload', withHeader({ crit: ['b64'], b64: false })],
  ...each([undefined, '', 'https://x.example', `${issuer}/`, [issuer]], 'the issuer', (iss) => withClaims({ iss })),
  ...each([undefined, '', 'https://x.example', ['shop'], null], 'the audience', (aud) => withClaims({ aud })),
  ...each([undefined, 'JWT', 'id_token', 'logout+jwt', ''], 'the typ', (typ) => withHeader({ typ })),
  ...each(['id', 'email', 'role', 'iat', 'exp'], 'no', (name) => withClaims({ [name]: undefined })),
  ['an nbf in the future', withClaims({ nbf: now() + 3000 })],
  ['an iat in the future', withClaims({ iat: now() + 3000, exp: now() + 7200 })],
  ['an altered payload', `${head}.${encode({ ...claims, id: 8 })}.${signature}`],
  ['a header that no longer names its kid', `${encode({ alg: 'RS256' })}.${payload}.${signature}`],
  ['a stripped signature', `${head}.${payload}.`],
  ['a signature of an HMAC’s length', `${head}.${payload}.${signature.slice(0, 43)}`],
  ['padding', `${head}.${payload}.${signature}==`],
  // The last character has two bits of the signature, and decoders ignore its other four bits.
  ['another spelling of its signature', withHeader({}).replace(/.$/, (c) => ({ A: 'B', Q: 'R', g: 'h', w: 'x' })[c] ?? '')],
  ['a header that is no JSON', `${encode('{"alg":"RS256"')}.${payload}.${signature}`],
  ['a link token in its place', crypto.randomBytes(32).toString('base64url')],
  ['a refresh token in its place', firstRefreshToken(7, 'A'.repeat(22)).refreshToken],
];

describe('verifyToken, where a key signs,', () => {
  it('accepts the token from which all tokens below are made', async () => {
    expect(await codeOf(withHeader({}))).toBe('accepted');
  });

  it.each(hostile)('refuses an admin’s token with %s', async (_, token) => {
    expect(await codeOf(token)).toBe('TOKEN_INVALID');
  });
});
