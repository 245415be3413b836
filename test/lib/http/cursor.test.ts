import { createHmac, randomUUID } from 'node:crypto';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { decodeCursor, encodeCursor } from '../../../lib/http/cursor.ts';
import { issueToken } from '../../../lib/keys/token.ts';

const secret = randomUUID();
vi.stubEnv('JWT_SECRET', secret);
afterAll(() => vi.unstubAllEnvs());

const scope = 'audit-logs?userId=7&action=';
const position = '2026-11-21T09:05:07.042Z#0000000000000012';
const refused = expect.objectContaining({
  code: 'PARAMETER_INVALID',
  message: 'cursor is invalid',
});

/** A cursor altered in ways that must be noticed. */
const tamperedCursors = (cursor: string): readonly string[] => {
  const [position = '', signature = ''] = cursor.split('.');
  const early = Buffer.from('0').toString('base64url');
  return [
    '',
    '.',
    '..',
    'x',
    'null',
    '{}',
    '%',
    '\0',
    '__proto__',
    '😀',
    'x'.repeat(4000),
    position,
    `${position}.`,
    `.${signature}`,
    `${signature}.${position}`,
    `${cursor}.`,
    `${cursor}=`,
    `${cursor}A`,
    ` ${cursor}`,
    `${cursor} `,
    `.${cursor}`,
    cursor.slice(0, -1),
    cursor.slice(1),
    `${early}.${signature}`,
    cursor.toUpperCase(),
  ];
};

describe('A cursor', () => {
  it.each([position, '', 'ünï 😀', 'a.b', '\0'])(
    'encodes the position %j, and decodes it again',
    async (at) => {
      expect(await decodeCursor(scope, await encodeCursor(scope, at))).toBe(at);
    },
  );

  it('fits into a query string as it is', async () => {
    expect(await encodeCursor(scope, '??>>😀~~')).toMatch(/^[\w.-]+$/);
  });

  it('is the same for the same position, so that it stays valid after an update of the service', async () => {
    const encoded = Buffer.from(position).toString('base64url');
    const signed = createHmac('sha256', secret)
      .update(JSON.stringify(['cursor.v1', scope, position]))
      .digest('base64url');

    expect(await encodeCursor(scope, position)).toBe(`${encoded}.${signed}`);
  });

  it.each([
    '',
    'users',
    'audit-logs?userId=7&action=LOGIN',
    'audit-logs?userId=&action=7',
    `${scope} `,
  ])('is refused in another scope: %j', async (other) => {
    const cursor = await encodeCursor(scope, position);

    await expect(decodeCursor(other, cursor)).rejects.toEqual(refused);
  });

  it('keeps scope and position apart, so that no text can move from one to the other', async () => {
    const cursor = await encodeCursor('ab', 'c');
    const signature = cursor.split('.')[1];
    const moved = `${Buffer.from('bc').toString('base64url')}.${signature}`;

    await expect(decodeCursor('a', moved)).rejects.toEqual(refused);
  });

  it('is refused when it is altered in any way', async () => {
    const cursor = await encodeCursor(scope, position);

    for (const tampered of tamperedCursors(cursor)) {
      await expect(decodeCursor(scope, tampered), tampered).rejects.toEqual(refused);
    }
  });

  it('is refused when any bit of any of its characters is flipped', async () => {
    const cursor = await encodeCursor(scope, position);

    for (let at = 0; at < cursor.length; at += 1) {
      for (let bit = 0; bit < 7; bit += 1) {
        const flipped = String.fromCharCode(cursor.charCodeAt(at) ^ (1 << bit));
        const altered = cursor.slice(0, at) + flipped + cursor.slice(at + 1);
        await expect(decodeCursor(scope, altered), altered).rejects.toEqual(refused);
      }
    }
  });

  it('is refused when it was signed with another secret, or its signature belongs to something else', async () => {
    const encoded = Buffer.from(position).toString('base64url');
    const forged = createHmac('sha256', 'another secret').update(position).digest('base64url');
    const bare = createHmac('sha256', secret).update(position).digest('base64url');
    const token = await issueToken({ id: 1, email: 'a@b', role: 'admin' });

    for (const cursor of [`${encoded}.${forged}`, `${encoded}.${bare}`, token]) {
      await expect(decodeCursor(scope, cursor)).rejects.toEqual(refused);
    }
  });
});
