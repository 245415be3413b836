import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { decodeJwt } from 'jose';
import { describe, expect, it } from 'vitest';
import { listUsers, outcome, refusal, serviceForThisFile } from '../support/acceptance.ts';
import { register, uniqueEmail } from '../support/client.ts';
import { type ExampleRequest, endpoints, sendExample } from '../support/examples.ts';
import {
  claimsWith,
  encode,
  now,
  signToken,
  signTokenWithKey,
  soundHeader,
} from '../support/tokens.ts';

const { api, adminToken, jwtSecret } = await serviceForThisFile();
const bystander = await register(api);
const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

// Every token below is an admin's in all but its flaw: whatever lets it in lets it do anything.
const admin = claimsWith({ ...decodeJwt(adminToken), iat: now(), exp: now() + 3600 });
const sound = signToken(admin, jwtSecret);
const [header, payload, signature] = sound.split('.') as [string, string, string];
const without = (claim: string) =>
  Object.fromEntries(Object.entries(admin).filter(([name]) => name !== claim));
const withHeader = (fields: object) => signToken(admin, jwtSecret, { ...soundHeader, ...fields });
const withClaims = (claims: object) => signToken({ ...admin, ...claims }, jwtSecret);
const jwk = publicKey.export({ format: 'jwk' });

const noToken: readonly [title: string, authorization: string | undefined][] = [
  ['no Authorization header', undefined],
  ['an empty header', ''],
  ['the scheme alone', 'Bearer'],
  ['the scheme and a space', 'Bearer '],
  ['a lower-case scheme', `bearer ${sound}`],
  ['an upper-case scheme', `BEARER ${sound}`],
  ['no space', `Bearer${sound}`],
  ['a tab for the space', `Bearer\t${sound}`],
  ['a colon for the space', `Bearer:${sound}`],
  ['no scheme', sound],
  ['scheme Basic', `Basic ${sound}`],
  ['scheme Token', `Token ${sound}`],
  ['another scheme first', `Basic x, Bearer ${sound}`],
];

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
  ['a header that is no JSON', signToken(admin, jwtSecret, '{"alg":"HS256"')],
  ['a header that is an array', signToken(admin, jwtSecret, [soundHeader])],
  ['a payload that is no JSON', signToken('{"id":1', jwtSecret)],
  ['a payload that is an array', signToken([admin], jwtSecret)],
  ['a payload that is null', signToken(null, jwtSecret)],
  ['a payload that is empty', signToken('', jwtSecret)],
] as const;

const signatures = [
  ['a stripped signature', `${header}.${payload}.`],
  ['half a signature', sound.slice(0, -22)],
  ['another token’s signature', `${header}.${payload}.${adminToken.split('.')[2]}`],
  ['a reversed signature', `${header}.${payload}.${[...signature].reverse().join('')}`],
  [
    'an altered payload',
    `${header}.${encode({ ...admin, id: 1 + Number(admin.id) })}.${signature}`,
  ],
  ['an altered header', `${encode({ ...soundHeader, kid: 'x' })}.${payload}.${signature}`],
  ['another secret', signToken(admin, randomUUID() + randomUUID())],
  ['an empty secret', signToken(admin, '')],
  ['a secret that people choose', signToken(admin, 'secret')],
  ['the secret with a newline', signToken(admin, `${jwtSecret}\n`)],
] as const;

const algorithms = [
  ...['none', 'None', 'NONE', 'nOnE', ''].flatMap((alg) => {
    const unsigned = `${encode({ ...soundHeader, alg })}.${payload}.`;
    return [
      [`alg ${alg || '""'} without a signature`, unsigned],
      [`alg ${alg || '""'} with one`, withHeader({ alg })],
    ] as const;
  }),
  ['no alg', signToken(admin, jwtSecret, { typ: 'JWT' })],
  ['alg null', withHeader({ alg: null })],
  ['alg as an array', withHeader({ alg: ['HS256'] })],
  ['alg in lower case', withHeader({ alg: 'hs256' })],
  ['HS384, under the right secret', withHeader({ alg: 'HS384' })],
  ['HS512, under the right secret', withHeader({ alg: 'HS512' })],
  ['RS256', signTokenWithKey(admin, privateKey, { alg: 'RS256', typ: 'JWT' })],
  ['RS256, claimed of an HMAC', withHeader({ alg: 'RS256' })],
  ['HS256, claimed of an RSA signature', signTokenWithKey(admin, privateKey, soundHeader)],
  [
    'an HMAC under the public key',
    signToken(admin, String(publicKey.export({ format: 'pem', type: 'spki' }))),
  ],
  ['an embedded jwk', signTokenWithKey(admin, privateKey, { alg: 'RS256', typ: 'JWT', jwk })],
  [
    'an embedded symmetric jwk',
    signToken(admin, 'k'.repeat(32), {
      ...soundHeader,
      jwk: { kty: 'oct', k: encode('k'.repeat(32)) },
    }),
  ],
  [
    'a jku',
    signTokenWithKey(admin, privateKey, { alg: 'RS256', jku: 'https://example.org/jwks.json' }),
  ],
  ['a kid that is a path', signToken(admin, '', { ...soundHeader, kid: '../../../../dev/null' })],
  ['an unknown crit', withHeader({ crit: ['exp'], exp: now() })],
  ['a crit of an absent parameter', withHeader({ crit: ['absent'] })],
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

const claims = [
  ...['id', 'email', 'role', 'iat', 'exp'].map(
    (claim) => [`no ${claim}`, signToken(without(claim), jwtSecret)] as const,
  ),
  ...Object.entries(mistyped).flatMap(([claim, values]) =>
    values.map(
      (value) => [`${claim} ${JSON.stringify(value)}`, withClaims({ [claim]: value })] as const,
    ),
  ),
  [
    'an exp without end',
    signToken(JSON.stringify(admin).replace(/"exp":\d+/, '"exp":1e999'), jwtSecret),
  ],
  ['an empty payload', signToken({}, jwtSecret)],
  ['claims of another letter case', signToken({ ...without('role'), Role: 'admin' }, jwtSecret)],
  [
    'a role by way of the prototype',
    signToken(
      JSON.stringify(without('role')).replace('{', '{"__proto__":{"role":"admin"},'),
      jwtSecret,
    ),
  ],
  ['an iat in the future', withClaims({ iat: now() + 3000, exp: now() + 7200 })],
  ['an nbf in the future', withClaims({ nbf: now() + 3000 })],
  [
    'an exp in the past, and another secret',
    signToken({ ...admin, exp: now() - 60 }, randomUUID()),
  ],
  ['an exp in the past, and no signature', `${header}.${encode({ ...admin, exp: now() - 60 })}.`],
  ['an exp in the past, and no id', signToken({ ...without('id'), exp: now() - 60 }, jwtSecret)],
  [
    'an exp in the past, and an iat in the future',
    withClaims({ iat: now() + 3000, exp: now() - 60 }),
  ],
  [
    'an exp in the past, and an nbf in the future',
    withClaims({ nbf: now() + 3000, exp: now() - 60 }),
  ],
] as const;

const expired = [
  ['just', withClaims({ exp: now() - 1 })],
  ['within the tolerance for other clocks', withClaims({ exp: now() - 30 })],
  ['an hour ago', withClaims({ iat: now() - 90_000, exp: now() - 3600 })],
  ['in 1970', withClaims({ iat: 0, exp: 0 })],
] as const;

const accepted = [
  ['an iat that runs ahead by half a minute', withClaims({ iat: now() + 30 })],
  ['an nbf that runs ahead by half a minute', withClaims({ nbf: now() + 30 })],
  ['an nbf in the past', withClaims({ nbf: now() - 60 })],
  ['claims that it does not know', withClaims({ iss: 'x', aud: 'y', password: 'z' })],
  ['no typ', withHeader({ typ: undefined })],
] as const;

const intruder = uniqueEmail();
const subject = { account: bystander, admin: adminToken, memoryId: 0 };
const call = (example: ExampleRequest, authorization: string | undefined) =>
  sendExample(api, example, subject, {
    token: null,
    headers: authorization === undefined ? {} : { authorization },
    fields: (json) => ({ role: 'admin', ...('email' in json ? { email: intruder } : {}) }),
  });
const profile = (authorization: string) =>
  api('GET', '/api/profile', { headers: { authorization } });

describe.each(endpoints.filter(({ caller }) => caller !== 'anyone'))('$name', (example) => {
  it.each(noToken)('answers 401 No token provided to %s', async (_, authorization) => {
    const answer = await call(example, authorization);

    expect(outcome(answer)).toEqual(refusal(401, 'No token provided'));
  });

  it.each([...malformed, ...signatures, ...algorithms, ...claims])(
    'answers 401 Invalid token to %s',
    async (_, token) => {
      const answer = await call(example, `Bearer ${token}`);

      expect(outcome(answer)).toEqual(refusal(401, 'Invalid token'));
    },
  );

  it.each(expired)('answers 401 Token has expired to a token that expired %s', async (_, token) => {
    const answer = await call(example, `Bearer ${token}`);

    expect(outcome(answer)).toEqual(refusal(401, 'Token has expired'));
  });

  it('answers 431 or 401 to a token of 100 KB', async () => {
    const { status, body } = await call(example, `Bearer ${'x'.repeat(100_000)}`);

    expect([401, 431]).toContain(status);
    expect(body).toEqual({ message: expect.any(String) });
  });

  it('has done nothing for any of them', async () => {
    const { body } = await api('GET', `/api/users/${bystander.id}`, { token: adminToken });
    const emails = (await listUsers(api, adminToken)).map(({ email }) => email);

    expect(body).toMatchObject({ name: bystander.name, role: 'user' });
    expect(emails).not.toContain(intruder);
  });
});

describe('A token', () => {
  it('is refused with any one of its characters altered', async () => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    for (const [at, character] of [...sound].entries()) {
      if (character === '.') continue;
      // The next letter differs in the last bit, which base64url may not even use.
      const other = alphabet[alphabet.indexOf(character) ^ 1];
      const altered = sound.slice(0, at) + other + sound.slice(at + 1);

      const answer = await profile(`Bearer ${altered}`);

      expect(outcome(answer), `character ${at}`).toEqual(refusal(401, 'Invalid token'));
    }
  });

  it.each(accepted)('is accepted with %s', async (_, token) => {
    const { status, body } = await profile(`Bearer ${token}`);

    expect([status, body.data.id]).toEqual([200, admin.id]);
  });

  it('is what tells the caller, whatever the stored role is', async () => {
    const user = await register(api);
    const asAdmin = signToken(claimsWith({ ...decodeJwt(user.token), role: 'admin' }), jwtSecret);

    const { status } = await api('GET', '/api/admin/audit-logs', { token: asAdmin });

    expect(status).toBe(200);
  });

  it('holds nothing but its five claims', () => {
    expect(Object.keys(decodeJwt(bystander.token)).sort()).toEqual([
      'email',
      'exp',
      'iat',
      'id',
      'role',
    ]);
    expect(Buffer.from(bystander.token.split('.')[1] ?? '', 'base64url').toString()).not.toContain(
      bystander.password,
    );
  });
});
