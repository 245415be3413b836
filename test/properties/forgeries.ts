/** Tokens that nobody issued, made from those that were. */
import { createHash, generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import {
  claimsWith,
  encode,
  now,
  signToken,
  signTokenWithKey,
  soundHeader,
} from '../support/tokens.ts';
import { anyText, anyValue } from './texts.ts';

export interface Issued {
  readonly tokens: readonly [string, ...string[]];
  readonly secret: string;
}

const base64url = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

const altered = (token: string): fc.Arbitrary<string> =>
  fc
    .tuple(fc.nat(token.length - 1), fc.constantFrom(...base64url, '.', '=', '+', '/', ' ', '\0'))
    .filter(([at, character]) => token[at] !== character)
    .map(([at, character]) => token.slice(0, at) + character + token.slice(at + 1));

const shortened = (token: string) =>
  fc.nat(token.length - 1).map((length) => token.slice(0, length));

const embellished = (token: string) =>
  fc.constantFrom(
    ...[`${token}=`, `${token}==`, `${token}.`, `${token}.${token}`, ` ${token}`, `${token} `],
    ...[`.${token}`, `${token}\n`, `"${token}"`, `${token},${token}`, `${token}A`, `${token}\0`],
    token.replaceAll('.', '..'),
    Buffer.from(token).toString('base64'),
  );

const rearranged = ({ tokens }: Issued): fc.Arbitrary<string> => {
  const parts = tokens.flatMap((token) => token.split('.'));
  return fc
    .array(fc.constantFrom('', ...parts), { minLength: 1, maxLength: 6 })
    .map((chosen) => chosen.join('.'))
    .filter((token) => !tokens.includes(token));
};

const adminClaims = claimsWith({ role: 'admin' });

const notIds = fc.oneof(
  fc.constantFrom('1', 0, -1, 1.5, 2 ** 53, 1e300, null, true, [1], { id: 1 }, undefined),
  fc.string(),
);
const notStrings = fc.constantFrom(1, null, true, ['a@b'], { email: 'a@b' }, undefined);
const notRoles = fc.oneof(
  fc.constantFrom('root', 'Admin', 'admin ', ['admin'], { admin: true }, 1, true, null, undefined),
  fc.string().filter((role) => role !== 'user' && role !== 'admin'),
);
const notTimes = fc.constantFrom('1', `${now() + 3600}`, null, true, [now()], {}, undefined);
const future = fc.integer({ min: 120, max: 10 ** 9 }).map((seconds) => now() + seconds);

const unsoundClaims = fc.oneof(
  notIds.map((id) => ({ ...adminClaims, id })),
  notStrings.map((email) => ({ ...adminClaims, email })),
  notRoles.map((role) => ({ ...adminClaims, role })),
  notTimes.map((iat) => ({ ...adminClaims, iat })),
  notTimes.map((exp) => ({ ...adminClaims, exp })),
  future.map((iat) => ({ ...adminClaims, iat, exp: iat + 3600 })),
  future.map((nbf) => ({ ...adminClaims, nbf })),
  fc.constantFrom('soon', [0], {}).map((nbf) => ({ ...adminClaims, nbf })),
  anyValue.filter((value) => typeof value !== 'string'),
  fc.constantFrom('', '{', 'null', '[]', '"admin"', `${JSON.stringify(adminClaims)}}`),
);

const otherAlgorithms = fc.constantFrom(
  ...['none', 'None', 'NONE', '', 'hs256', 'HS256 ', 'HS384', 'HS512', 'RS256', 'ES256', 'PS256'],
  ...['EdDSA', 'dir', 'HMAC', null, 0, ['HS256'], { alg: 'HS256' }, undefined],
);

const unsoundHeaders = fc.oneof(
  otherAlgorithms.map((alg) => ({ ...soundHeader, alg })),
  fc.constantFrom(['exp'], ['b64'], [], 'exp', ['unknown']).map((crit) => ({
    ...soundHeader,
    crit,
    unknown: true,
    b64: false,
  })),
  fc.constantFrom('', '{', 'null', '[]', 'HS256'),
);

const attackerKey = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const jwk = attackerKey.publicKey.export({ format: 'jwk' });

const keyed = fc.constantFrom(
  signTokenWithKey(adminClaims, attackerKey.privateKey, { alg: 'ES256', typ: 'JWT', jwk }),
  signToken(adminClaims, JSON.stringify(jwk), { ...soundHeader, jwk }),
  signToken(adminClaims, '', { ...soundHeader, kid: '/dev/null' }),
  signToken(adminClaims, 'secret', { ...soundHeader, jku: 'http://127.0.0.1/keys' }),
  signToken(adminClaims, 'secret', { ...soundHeader, x5u: 'http://127.0.0.1/cert' }),
);

const otherSecrets = (secret: string) =>
  fc
    .oneof(
      fc.nat(secret.length - 1).map((length) => secret.slice(0, length)),
      fc.constantFrom(`${secret} `, secret.toUpperCase(), 'secret', 'JWT_SECRET', '\0'),
      fc.constant(createHash('sha256').update(secret).digest('base64')),
    )
    .map((key) => signToken(adminClaims, key));

const unsigned = fc
  .constantFrom('', 'AA', encode('signature'), 'A'.repeat(43), 'A'.repeat(100_000))
  .map((signature) => `${encode(soundHeader)}.${encode(adminClaims)}.${signature}`);

/** Tokens that must be refused as invalid, whatever they claim. */
export const forgedToken = (issued: Issued): fc.Arbitrary<string> => {
  const [token] = issued.tokens;
  return fc.oneof(
    { weight: 6, arbitrary: altered(token) },
    { weight: 1, arbitrary: shortened(token) },
    { weight: 2, arbitrary: embellished(token) },
    { weight: 3, arbitrary: rearranged(issued) },
    { weight: 8, arbitrary: unsoundClaims.map((claims) => signToken(claims, issued.secret)) },
    {
      weight: 4,
      arbitrary: unsoundHeaders.map((header) => signToken(adminClaims, issued.secret, header)),
    },
    { weight: 2, arbitrary: otherSecrets(issued.secret) },
    { weight: 1, arbitrary: keyed },
    { weight: 1, arbitrary: unsigned },
    { weight: 1, arbitrary: anyText },
  );
};

/** Tokens that were sound once. */
export const expiredToken = ({ secret }: Issued): fc.Arbitrary<string> =>
  fc.integer({ min: 0, max: 10 ** 9 }).map((age) => {
    const exp = now() - age;
    return signToken(claimsWith({ role: 'admin', iat: exp - 3600, exp }), secret);
  });
