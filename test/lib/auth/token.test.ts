import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { tokenLifetime } from '../../../lib/auth/signing-secret.ts';
import { issueToken, verifyToken } from '../../../lib/auth/token.ts';
import { signToken } from '../../support/tokens.ts';

/** The secret, rotated ten minutes ago: the new version signs, tokens of the old one are good. */
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
  it('says who the holder is, from the second of issue for a day', async () => {
    const token = await issueToken(user, { now: issuedAt });

    expect(decodeProtectedHeader(token)).toEqual({ alg: 'HS256', typ: 'JWT' });
    expect(decodeJwt(token)).toEqual({ ...user, iat, exp: iat + tokenLifetime });
    expect(tokenLifetime).toBe(86_400);
  });

  it('takes nothing into the token but id, email and role', async () => {
    const stored = { ...user, name: 'Ada', password_hash: 'hash', created_at: 'x' };

    const claims = decodeJwt(await issueToken(stored));

    expect(Object.keys(claims).sort()).toEqual(['email', 'exp', 'iat', 'id', 'role']);
  });

  it('signs with the secret, as any other implementation would', async () => {
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
    ['is issued', issuedAt, 'accepted'],
    ['a second before its end', later(86_399), 'accepted'],
    ['a millisecond before its end', new Date(later(86_400).getTime() - 1), 'accepted'],
    ['at its end', later(86_400), 'TOKEN_EXPIRED'],
    ['a minute after its end', later(86_460), 'TOKEN_EXPIRED'],
    ['years after its end', later(86_400 * 3650), 'TOKEN_EXPIRED'],
    ['by a clock that runs a minute late', later(-60), 'accepted'],
    ['by a clock that runs later still', later(-61), 'TOKEN_INVALID'],
  ])('checks a token %s by the clock that it is given', async (_, now, expected) => {
    const token = await issueToken(user, { now: issuedAt });

    expect(await codeOf(verifyToken(token, { now }))).toBe(expected);
  });

  it.each([
    [0, 'accepted'],
    [60, 'accepted'],
    [61, 'TOKEN_INVALID'],
  ])('reads a not-before of %i s from now as %s', async (ahead, expected) => {
    const token = signToken({ ...user, iat, exp: iat + 3600, nbf: iat + ahead }, secret);

    expect(await codeOf(verifyToken(token, { now: later(0) }))).toBe(expected);
  });

  it('does not call a token expired before it knows that it is ours', async () => {
    const old = { ...user, iat: 0, exp: 1 };

    expect(await codeOf(verifyToken(signToken(old, secret)))).toBe('TOKEN_EXPIRED');
    expect(await codeOf(verifyToken(signToken(old, randomUUID())))).toBe('TOKEN_INVALID');
    expect(await codeOf(verifyToken(signToken({ ...old, id: '7' }, secret)))).toBe('TOKEN_INVALID');
  });

  it('knows one spelling of a signature, of the four that decode alike', async () => {
    const token = await issueToken(user, { now: issuedAt });
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const first = alphabet.indexOf(token.slice(-1));

    const answers = [0, 1, 2, 3].map((unused) =>
      codeOf(verifyToken(token.slice(0, -1) + alphabet[first + unused], { now: issuedAt })),
    );

    const refused = 'TOKEN_INVALID';
    expect(await Promise.all(answers)).toEqual(['accepted', refused, refused, refused]);
  });

  it('says nothing of the token in what it throws', async () => {
    const token = signToken({ ...user, iat, exp: iat + 60 }, 'wrong');

    const error = await verifyToken(token).catch((reason) => reason);

    expect(`${error.message} ${error.cause} ${JSON.stringify(error)}`).not.toContain(
      token.slice(0, 20),
    );
  });
});

describe('verifyToken after a rotation of the secret', () => {
  it('accepts what either version signed, and calls it expired when it is', async () => {
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
      ...['accepted', 'accepted', 'accepted'],
      ...['TOKEN_EXPIRED', 'TOKEN_INVALID', 'TOKEN_INVALID'],
    ]);
  });
});
