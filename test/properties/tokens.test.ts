import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { endpoints } from '../support/examples.ts';
import { counted, holds } from '../support/runs.ts';
import { claimsWith, now, signToken } from '../support/tokens.ts';
import { expectSound } from './answers.ts';
import { expiredToken, forgedToken } from './forgeries.ts';
import { startHandlers } from './handlers.ts';
import { openTables } from './tables.ts';
import { anyText } from './texts.ts';

const handlers = await startHandlers();
const call = counted(handlers.call);
const tables = openTables(handlers);

const secret = handlers.jwtSecret;
const root = await handlers.call({
  route: 'POST /api/auth/register',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ name: 'n', email: 'root@b', password: 'p' }),
});
const issued = {
  secret,
  tokens: [JSON.parse(root.text ?? '').token, signToken(claimsWith({ role: 'admin' }), secret)],
} as const;

const protectedRoutes = endpoints
  .filter(({ caller }) => caller !== 'anyone')
  .map(({ route }) => route);

/** A request that an administrator would be granted. */
const requestWith = (authorization: string, route: string) => ({
  route,
  headers: { authorization, 'content-type': 'application/json' },
  ...(route.includes('{id}') ? { id: '1' } : {}),
  ...(/^P/.test(route)
    ? { body: JSON.stringify({ name: 'new', email: 'new@b', password: 'new' }) }
    : {}),
});

/** What becomes of a request with that header on any protected route. */
const expectRefusal = async (
  authorizations: fc.Arbitrary<string>,
  runs: number,
  reason: string,
) => {
  const before = await tables.read();
  const refused = async (authorization: string, route: string) => {
    const answer = await call(requestWith(authorization, route));
    expectSound(answer, [secret]);
    expect([answer.status, answer.text]).toEqual([401, JSON.stringify({ message: reason })]);
  };
  const routes = fc.constantFrom(...protectedRoutes);
  await holds(runs, fc.asyncProperty(authorizations, routes, refused));
  expect(await tables.read()).toEqual(before);
};

const bearer = (token: string) => `Bearer ${token}`;

describe('Every protected route', () => {
  it('refuses a token that was not issued as invalid, and changes nothing', () =>
    expectRefusal(forgedToken(issued).map(bearer), 3000, 'Invalid token'));

  it('refuses a token that has expired as expired, and changes nothing', () =>
    expectRefusal(expiredToken(issued).map(bearer), 300, 'Token has expired'));

  it('finds no token after another scheme, even if the token is sound', () => {
    const scheme = anyText.filter((text) => !text.startsWith('Bearer '));
    const tokens = fc.constantFrom('', ...issued.tokens);
    const headers = fc
      .tuple(scheme, tokens)
      .map((parts) => parts.join(''))
      .filter((header) => !header.startsWith('Bearer '));
    return expectRefusal(headers, 300, 'No token provided');
  });

  it('accepts a token with sound claims', async () => {
    const claims = fc.record({
      id: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
      email: anyText.filter((email) => email.isWellFormed()),
      role: fc.constantFrom('user', 'admin'),
      iat: fc.integer({ min: 0, max: now() }),
      exp: fc.integer({ min: now() + 600, max: 2 ** 40 }),
    });
    const accepted = async (sound: object) => {
      const authorization = bearer(signToken(sound, secret));
      const { status } = await call({ route: 'GET /api/profile', headers: { authorization } });
      expect([200, 404]).toContain(status);
    };

    await holds(300, fc.asyncProperty(claims, accepted));
  });
});
