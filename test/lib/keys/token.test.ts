import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { tokenLifetime } from '../../../lib/keys/signing-secret.ts';
import { issueToken, verifyToken } from '../../../lib/keys/token.ts';
import {
  claimsWith,
  encode,
  now,
  signToken,
  signTokenWithKey,
  soundHeader,
} from '../../support/tokens.ts';

/** The secret, rotated ten minutes ago: the new version signs, and tokens of the old version are valid. */
const [secret, previous] = [randomUUID(), randomUUID()];
const folder = mkdtempSync(join(tmpdir(), 'secret-'));
const versions = [
  { id: 'b', value: secret, createdAt: new Date(Date.now() - 600_000).toISOString() },
  { id: 'a', value: previous, createdAt: new Date(0).toISOString() },
];
writeFileSync(join(folder, 'secret.json'), JSON.stringify(versions));
vi.stubEnv('JWT_SECRET', '');
vi.stubEnv('JWT_SECRET_FILE', join(folder, 'secret.json'));
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

const user = { id: 7, email: 'ada@example.org', role: 'user' } as const;
const issuedAt = new Date('2026-11-21T09:05:07.900Z');
const iat = 1_795_251_907;
const later = (seconds: number) => new Date((iat + seconds) * 1000);
const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'accepted',
    ({ code }) => code,
  );

describe('issueToken', () => {
  it('says who the holder is, and is valid for a day from the second of issue', async () => {
    const token = await issueToken(user, { now: issuedAt });

    expect(decodeProtectedHeader(token)).toEqual({ alg: 'HS256', typ: 'JWT' });
    expect(decodeJwt(token)).toEqual({ ...user, iat, exp: iat + tokenLifetime });
    expect(tokenLifetime).toBe(86_400);
  });

  it('puts only the id, email and role of the user into the token', async () => {
    const stored = { ...user, name: 'Ada', password_hash: 'hash', created_at: 'x' };

    const claims = decodeJwt(await issueToken(stored));

    expect(Object.keys(claims).sort()).toEqual(['email', 'exp', 'iat', 'id', 'role']);
  });

  it('signs with the secret in the same way as other implementations', async () => {
    const token = await issueToken(user, { now: issuedAt });

    expect(token).toBe(signToken({ ...user, iat, exp: iat + 86_400 }, secret));
  });
});

describe('verifyToken', () => {
  it('returns the five claims and nothing else', async () => {
    const token = signToken(
      { ...user, iat, exp: iat + 60, nbf: iat, iss: 'x', admin: true },
      secret,
    );

    expect(await verifyToken(token, { now: issuedAt })).toEqual({ ...user, iat, exp: iat + 60 });
  });

  it.each([
    ['when it is issued', issuedAt, 'accepted'],
    ['a second before its end', later(86_399), 'accepted'],
    ['a millisecond before its end', new Date(later(86_400).getTime() - 1), 'accepted'],
    ['at its end', later(86_400), 'TOKEN_EXPIRED'],
    ['a minute after its end', later(86_460), 'TOKEN_EXPIRED'],
    ['years after its end', later(86_400 * 3650), 'TOKEN_EXPIRED'],
    ['with a clock that is a minute slow', later(-60), 'accepted'],
    ['with a clock that is 61 seconds slow', later(-61), 'TOKEN_INVALID'],
  ])('checks a token %s, by the given time', async (_, now, expected) => {
    const token = await issueToken(user, { now: issuedAt });

    expect(await codeOf(verifyToken(token, { now }))).toBe(expected);
  });

  it.each([
    [0, 'accepted'],
    [60, 'accepted'],
    [61, 'TOKEN_INVALID'],
  ])('judges a not-before of %i s from now as %s', async (ahead, expected) => {
    const token = signToken({ ...user, iat, exp: iat + 3600, nbf: iat + ahead }, secret);

    expect(await codeOf(verifyToken(token, { now: later(0) }))).toBe(expected);
  });

  it('does not report a token as expired before its signature is verified', async () => {
    const old = { ...user, iat: 0, exp: 1 };

    expect(await codeOf(verifyToken(signToken(old, secret)))).toBe('TOKEN_EXPIRED');
    expect(await codeOf(verifyToken(signToken(old, randomUUID())))).toBe('TOKEN_INVALID');
    expect(await codeOf(verifyToken(signToken({ ...old, id: '7' }, secret)))).toBe('TOKEN_INVALID');
  });

  it('accepts only one of the four spellings of a signature that decode to the same bytes', async () => {
    const token = await issueToken(user, { now: issuedAt });
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const first = alphabet.indexOf(token.slice(-1));

    const answers = [0, 1, 2, 3].map((unused) =>
      codeOf(verifyToken(token.slice(0, -1) + alphabet[first + unused], { now: issuedAt })),
    );

    const refused = 'TOKEN_INVALID';
    expect(await Promise.all(answers)).toEqual(['accepted', refused, refused, refused]);
  });

  it('throws errors that contain nothing of the token', async () => {
    const token = signToken({ ...user, iat, exp: iat + 60 }, 'wrong');

    const error = await verifyToken(token).catch((reason) => reason);

    expect(`${error.message} ${error.cause} ${JSON.stringify(error)}`).not.toContain(
      token.slice(0, 20),
    );
  });
});

// Except for one flaw, every token below is a valid token of an admin: code that accepts it would allow everything.
const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const admin: Readonly<Record<string, unknown>> = {
  ...claimsWith({ id: 7, role: 'admin' }),
  iat: now(),
  exp: now() + 3600,
};
const sound = signToken(admin, secret);
const [header, payload, signature] = sound.split('.') as [string, string, string];
const without = (claim: string) =>
  Object.fromEntries(Object.entries(admin).filter(([name]) => name !== claim));
const withHeader = (fields: object) => signToken(admin, secret, { ...soundHeader, ...fields });
const withClaims = (claims: object) => signToken({ ...admin, ...claims }, secret);
const jwk = publicKey.export({ format: 'jwk' });

const malformed = [
  ['something else than a token', 'nonsense'],
  ['two spaces', ` ${sound}`],
  ['a second token', `${sound} ${sound}`],
  ['a list', `${sound},${sound}`],
  ['quotes', `"${sound}"`],
  ['only dots', '..'],
  ['one part', payload],
  ['two parts', `${header}.${payload}`],
  ['four parts', `${sound}.${signature}`],
  ['five parts', `${header}..${payload}.${payload}.${signature}`],
  ['a dot at the end', `${sound}.`],
  ['padding', `${sound}=`],
  ['a space inside', `${header}. ${payload}.${signature}`],
  ['non-ASCII text', `${sound}é`],
  ['a header that is no JSON', signToken(admin, secret, '{"alg":"HS256"')],
  ['a header that is an array', signToken(admin, secret, [soundHeader])],
  ['a payload that is no JSON', signToken('{"id":1', secret)],
  ['a payload that is an array', signToken([admin], secret)],
  ['a payload that is null', signToken(null, secret)],
  ['a payload that is empty', signToken('', secret)],
] as const;

// biome-ignore format: a table
const signatures = [
  ['a stripped signature', `${header}.${payload}.`],
  ['half a signature', sound.slice(0, -22)],
  ['another token’s signature', `${header}.${payload}.${signToken({ ...admin, id: 8 }, secret).split('.')[2]}`],
  ['a reversed signature', `${header}.${payload}.${[...signature].reverse().join('')}`],
  ['an altered payload', `${header}.${encode({ ...admin, id: 1 + Number(admin.id) })}.${signature}`],
  ['an altered header', `${encode({ ...soundHeader, kid: 'x' })}.${payload}.${signature}`],
  ['another secret', signToken(admin, randomUUID() + randomUUID())],
  ['an empty secret', signToken(admin, '')],
  ['an easily guessed secret', signToken(admin, 'secret')],
  ['the secret with a newline', signToken(admin, `${secret}\n`)],
] as const;

// biome-ignore format: a table
const algorithms = [
  ...['none', 'None', 'NONE', 'nOnE', ''].flatMap((alg) => {
    const unsigned = `${encode({ ...soundHeader, alg })}.${payload}.`;
    return [
      [`alg ${alg || '""'} without a signature`, unsigned],
      [`alg ${alg || '""'} with a signature`, withHeader({ alg })],
    ] as const;
  }),
  ['no alg', signToken(admin, secret, { typ: 'JWT' })],
  ['alg null', withHeader({ alg: null })],
  ['alg as an array', withHeader({ alg: ['HS256'] })],
  ['alg in lower case', withHeader({ alg: 'hs256' })],
  ['HS384 with the right secret', withHeader({ alg: 'HS384' })],
  ['HS512 with the right secret', withHeader({ alg: 'HS512' })],
  ['RS256', signTokenWithKey(admin, privateKey, { alg: 'RS256', typ: 'JWT' })],
  ['an HMAC whose header claims RS256', withHeader({ alg: 'RS256' })],
  ['an RSA signature whose header claims HS256', signTokenWithKey(admin, privateKey, soundHeader)],
  ['an HMAC by the public key', signToken(admin, String(publicKey.export({ format: 'pem', type: 'spki' })))],
  ['an embedded jwk', signTokenWithKey(admin, privateKey, { alg: 'RS256', typ: 'JWT', jwk })],
  ['an embedded symmetric jwk', signToken(admin, 'k'.repeat(32), { ...soundHeader, jwk: { kty: 'oct', k: encode('k'.repeat(32)) } })],
  ['a jku', signTokenWithKey(admin, privateKey, { alg: 'RS256', jku: 'https://example.org/jwks.json' })],
  ['a kid that is a path', signToken(admin, '', { ...soundHeader, kid: '../../../../dev/null' })],
  ['an unknown crit', withHeader({ crit: ['exp'], exp: now() })],
  ['a crit that names an absent parameter', withHeader({ crit: ['absent'] })],
  ['an empty crit', withHeader({ crit: [] })],
  ['an unencoded payload', withHeader({ crit: ['b64'], b64: false })],
] as const;

const mistyped: Readonly<Record<string, readonly unknown[]>> = {
  id: [String(admin.id), null, true, 0, -1, 1.5, 9_007_199_254_740_992, [admin.id], {}],
  email: [null, 1, true, [admin.email], {}],
  role: [null, 'root', 'Admin', 'user,admin', ' admin', '', ['admin'], { admin: true }, true, 1],
  iat: [null, String(now()), true, [now()], {}, new Date().toISOString()],
  exp: [null, String(now() + 3600), true, [now() + 3600], {}, 'tomorrow'],
  nbf: [null, String(now()), true, [now()], {}, ''],
};

// biome-ignore format: a table
const claims = [
  ...['id', 'email', 'role', 'iat', 'exp'].map((claim) => [`no ${claim}`, signToken(without(claim), secret)] as const),
  ...Object.entries(mistyped).flatMap(([claim, values]) =>
    values.map(
      (value) => [`${claim} ${JSON.stringify(value)}`, withClaims({ [claim]: value })] as const,
    ),
  ),
  ['an infinite exp', signToken(JSON.stringify(admin).replace(/"exp":\d+/, '"exp":1e999'), secret)],
  ['an empty payload', signToken({}, secret)],
  ['claims in another letter case', signToken({ ...without('role'), Role: 'admin' }, secret)],
  ['a role in the prototype', signToken(JSON.stringify(without('role')).replace('{', '{"__proto__":{"role":"admin"},'), secret)],
  ['an iat in the future', withClaims({ iat: now() + 3000, exp: now() + 7200 })],
  ['an nbf in the future', withClaims({ nbf: now() + 3000 })],
  ['an exp in the past, and another secret', signToken({ ...admin, exp: now() - 60 }, randomUUID())],
  ['an exp in the past, and no signature', `${header}.${encode({ ...admin, exp: now() - 60 })}.`],
  ['an exp in the past, and no id', signToken({ ...without('id'), exp: now() - 60 }, secret)],
  ['an exp in the past, and an iat in the future', withClaims({ iat: now() + 3000, exp: now() - 60 })],
  ['an exp in the past, and an nbf in the future', withClaims({ nbf: now() + 3000, exp: now() - 60 })],
] as const;

const expired = [
  ['a second ago', withClaims({ exp: now() - 1 })],
  ['half a minute ago', withClaims({ exp: now() - 30 })],
  ['an hour ago', withClaims({ iat: now() - 90_000, exp: now() - 3600 })],
  ['in 1970', withClaims({ iat: 0, exp: 0 })],
] as const;

const accepted = [
  ['an iat that is half a minute ahead', withClaims({ iat: now() + 30 })],
  ['an nbf that is half a minute ahead', withClaims({ nbf: now() + 30 })],
  ['an nbf in the past', withClaims({ nbf: now() - 60 })],
  ['claims that are unknown', withClaims({ iss: 'x', aud: 'y', password: 'z' })],
  ['no typ', withHeader({ typ: undefined })],
] as const;

describe('verifyToken, given an admin’s token,', () => {
  it.each(accepted)('accepts it with %s', async (_, token) => {
    expect(await codeOf(verifyToken(token))).toBe('accepted');
  });

  it.each(expired)('reports it as expired when it expired %s', async (_, token) => {
    expect(await codeOf(verifyToken(token))).toBe('TOKEN_EXPIRED');
  });

  it.each([...malformed, ...signatures, ...algorithms, ...claims])(
    'refuses it with %s',
    async (_, token) => {
      expect(await codeOf(verifyToken(token))).toBe('TOKEN_INVALID');
    },
  );

  it('refuses it when any one of its characters is altered', async () => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    for (const [at, character] of [...sound].entries()) {
      if (character === '.') continue;
      // The next letter differs only in the last bit, which base64url may not even use.
      const other = alphabet[alphabet.indexOf(character) ^ 1];
      const altered = sound.slice(0, at) + other + sound.slice(at + 1);

      expect(await codeOf(verifyToken(altered)), `character ${at}`).toBe('TOKEN_INVALID');
    }
  });
});

describe('verifyToken after a rotation of the secret', () => {
  it('accepts the tokens of both versions until they expire', async () => {
    const sound = { ...user, iat: Math.floor(Date.now() / 1000), exp: 9_999_999_999 };

    const results = await Promise.all(
      [
        await issueToken(user),
        signToken(sound, secret),
        signToken(sound, previous),
        signToken({ ...sound, exp: 1 }, previous),
        signToken(sound, randomUUID()),
        signToken({ ...sound, role: 'root' }, previous),
      ].map((candidate) => codeOf(verifyToken(candidate))),
    );

    expect(results).toEqual([
      'accepted',
      'accepted',
      'accepted',
      'TOKEN_EXPIRED',
      'TOKEN_INVALID',
      'TOKEN_INVALID',
    ]);
  });
});
