import { createHmac, randomUUID } from 'node:crypto';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { issueToken } from '../../../lib/auth/token.ts';
import { decodeCursor, encodeCursor, parseAuditQuery } from '../../../lib/http/query.ts';
import type { ApiRequest } from '../../../lib/http/request.ts';
import { gatewayEvent } from '../../support/event.ts';
import { tamperedCursors } from '../../support/lists.ts';

const secret = randomUUID();
vi.stubEnv('JWT_SECRET', secret);
afterAll(() => vi.unstubAllEnvs());

const scope = 'audit-logs?userId=7&action=';
const position = '2026-11-21T09:05:07.042Z#0000000000000012';
const refused = expect.objectContaining({
  code: 'PARAMETER_INVALID',
  message: 'cursor is invalid',
});

describe('A cursor', () => {
  it.each([position, '', 'ünï 😀', 'a.b', '\0'])('brings the position %j back', async (at) => {
    expect(await decodeCursor(scope, await encodeCursor(scope, at))).toBe(at);
  });

  it('fits into a query string as it is', async () => {
    expect(await encodeCursor(scope, '??>>😀~~')).toMatch(/^[\w.-]+$/);
  });

  it('is the same for the same position, so that a client goes on with it after an update', async () => {
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
  ])('is refused in the scope %j, which is another one', async (other) => {
    const cursor = await encodeCursor(scope, position);

    await expect(decodeCursor(other, cursor)).rejects.toEqual(refused);
  });

  it('keeps scope and position apart', async () => {
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

  it('is refused with any bit of any of its characters flipped', async () => {
    const cursor = await encodeCursor(scope, position);

    for (let at = 0; at < cursor.length; at += 1) {
      for (let bit = 0; bit < 7; bit += 1) {
        const flipped = String.fromCharCode(cursor.charCodeAt(at) ^ (1 << bit));
        const altered = cursor.slice(0, at) + flipped + cursor.slice(at + 1);
        await expect(decodeCursor(scope, altered), altered).rejects.toEqual(refused);
      }
    }
  });

  it('is refused when another secret signed it, or ours signed something else', async () => {
    const encoded = Buffer.from(position).toString('base64url');
    const forged = createHmac('sha256', 'another secret').update(position).digest('base64url');
    const bare = createHmac('sha256', secret).update(position).digest('base64url');
    const token = await issueToken({ id: 1, email: 'a@b', role: 'admin' });

    for (const cursor of [`${encoded}.${forged}`, `${encoded}.${bare}`, token]) {
      await expect(decodeCursor(scope, cursor)).rejects.toEqual(refused);
    }
  });
});

const parse = (query: Readonly<Record<string, string>>, accept = '*/*') =>
  parseAuditQuery(gatewayEvent({ query, headers: { accept } }) as unknown as ApiRequest);

describe('The audit query', () => {
  // What they sign must stay as it is: a client goes on with its cursors after an update.
  it.each([
    [{}, 'audit-logs?userId=&action='],
    [{ order: 'desc', limit: '7' }, 'audit-logs?userId=&action='],
    [{ action: 'LOGIN', userId: '007' }, 'audit-logs?userId=7&action=LOGIN'],
    [
      { until: '2026-11-21', since: '2026-11-20T09:00:00+01:00', resourceId: 'a&b' },
      'audit-logs?userId=&action=&resourceId=a%26b&since=2026-11-20T08%3A00%3A00.000Z&until=2026-11-21T00%3A00%3A00.000Z',
    ],
    [
      { userId: '0', result: 'FAILURE', order: 'asc' },
      'audit-logs?userId=0&action=&result=FAILURE&order=asc',
    ],
  ])('%o has cursors of the scope %s', (query, scope) => {
    expect(parse(query).scope).toBe(scope);
  });

  it.each([
    ['application/json', {}, { format: undefined, limit: 100 }],
    ['text/csv', {}, { format: 'csv', limit: 1000 }],
    ['application/x-ndjson', {}, { format: 'ndjson', limit: 1000 }],
    ['application/x-ndjson', { limit: '1000' }, { format: 'ndjson', limit: 1000 }],
    ['application/json;q=0', {}, { format: undefined, limit: 100 }],
    ['text/csv;q=0.5, text/html', {}, { format: 'csv', limit: 1000 }],
    ['text/csv;q=0.1, application/x-ndjson;q=0.2', {}, { format: 'ndjson', limit: 1000 }],
    ['text/*;q=0.5, */*;q=0.6, text/csv;q=0', {}, { format: undefined, limit: 100 }],
    ['application/*, text/csv', {}, { format: 'csv', limit: 1000 }],
  ])('for %s with %o is for %o', (accept, query, expected) => {
    const { format, page } = parse(query, accept);

    expect({ format, limit: page.limit }).toEqual(expected);
  });
});
