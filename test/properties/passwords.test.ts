import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { counted, holds } from '../support/runs.ts';
import { startHandlers } from './handlers.ts';

const handlers = await startHandlers({
  LOGIN_FAILURES_PER_ACCOUNT: '0',
  LOGIN_FAILURES_PER_ADDRESS: '0',
});
const call = counted(handlers.call);
const post = (path: string, body: object) =>
  call({
    route: `POST /api/${path}`,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

/** Around what bcrypt reads (72 bytes), what it stops at (NUL) and what is allowed (255). */
const password = fc
  .tuple(
    fc.oneof(
      fc.constantFrom('', 'x'.repeat(70), 'x'.repeat(72), 'é'.repeat(36), '😀'.repeat(18)),
      fc.string(),
    ),
    fc.oneof(
      fc.constant(''),
      fc.string({ unit: fc.constantFrom('a', ' ', '\0', 'é', 'ß', '😀', '\u{301}', '\u{fffd}') }),
    ),
  )
  .map((parts) => parts.join(''))
  .filter((text) => text !== '');

type Neighbour = (password: string) => string;

/** Passwords that a careless comparison takes for the same. */
const neighbour: fc.Arbitrary<Neighbour> = fc.oneof(
  fc.string({ minLength: 1, maxLength: 3 }).map(
    (more): Neighbour =>
      (text) =>
        text + more,
  ),
  fc.constantFrom<Neighbour>(
    (text) => `${text}\0`,
    (text) => text.slice(0, -1),
    (text) => text.split('\0')[0] ?? '',
    (text) => text.toUpperCase(),
    (text) => text.trim(),
    (text) => text.normalize('NFD'),
    (text) => text.replace('\u{fffd}', '\ud800'),
    (text) => `${text}\udfff`,
    (text) => Buffer.from(text).subarray(0, 72).toString('latin1'),
    (text) => text + text,
  ),
);

it('Of a password every character counts, and what the account was made with logs in', async () => {
  const onlyItself = async (chosen: string, change: Neighbour) => {
    const email = `${randomUUID()}@b`;
    expect(await post('auth/register', { name: 'n', email, password: chosen })).toMatchObject({
      status: 201,
    });
    const other = change(chosen);

    const [right, wrong] = [
      await post('login', { email, password: chosen }),
      await post('login', { email, password: other }),
    ];

    expect(right.status).toBe(200);
    expect(wrong.status).toBe(other === chosen ? 200 : other === '' ? 400 : 401);
  };

  await holds(80, fc.asyncProperty(password, neighbour, onlyItself));
});
