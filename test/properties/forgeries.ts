import fc from 'fast-check';
import { claimsWith, now, signToken, soundHeader } from '../support/tokens.ts';
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

const otherSecrets = (secret: string) =>
  fc.nat(secret.length - 1).map((length) => signToken(adminClaims, secret.slice(0, length)));

/** Tokens that must be refused as invalid, whatever they claim. */
export const forgedToken = (issued: Issued): fc.Arbitrary<string> => {
  const [token] = issued.tokens;
  return fc.oneof(
    { weight: 6, arbitrary: altered(token) },
    { weight: 1, arbitrary: shortened(token) },
    { weight: 3, arbitrary: rearranged(issued) },
    { weight: 8, arbitrary: unsoundClaims.map((claims) => signToken(claims, issued.secret)) },
    {
      weight: 4,
      arbitrary: anyValue.map((alg) =>
        signToken(adminClaims, issued.secret, { ...soundHeader, alg }),
      ),
    },
    { weight: 2, arbitrary: otherSecrets(issued.secret) },
    { weight: 1, arbitrary: anyText },
  );
};

/** Tokens that were sound once. */
export const expiredToken = ({ secret }: Issued): fc.Arbitrary<string> =>
  fc.integer({ min: 0, max: 10 ** 9 }).map((age) => {
    const exp = now() - age;
    return signToken(claimsWith({ role: 'admin', iat: exp - 3600, exp }), secret);
  });
