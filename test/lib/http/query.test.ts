import { createHmac, randomUUID } from 'node:crypto';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { issueToken } from '../../../lib/auth/token.ts';
import { decodeCursor, encodeCursor, parseAuditQuery } from '../../../lib/http/query.ts';
import type { ApiRequest } from '../../../lib/http/request.ts';
import { gatewayEvent } from '../../support/event.ts';

const secret = randomUUID();
vi.stubEnv('JWT_SECRET', secret);
afterAll(() => vi.unstubAllEnvs());

const scope = 'audit-logs?userId=7&action=';
const position = '2026-11-21T09:05:07.042Z#0000000000000012';
const refused = expect.objectContaining({
  code: 'PARAMETER_INVALID',
  message: 'cursor is invalid',
});

const flip = (text: string, at: number): string =>
  text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1);

/** A cursor altered in ways that must be noticed. */
const tamperedCursors = (cursor: string): readonly string[] => {
  const [position = '', signature = ''] = cursor.split('.');
  const early = Buffer.from('0').toString('base64url');
  return [
    ...Array.from(cursor, (_, at) => flip(cursor, at)),
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
  ])('is refused in the scope %j, which is another one', async (other) => {
    const cursor = await encodeCursor(scope, position);

    await expect(decodeCursor(other, cursor)).rejects.toEqual(refused);
  });

  it('separates scope and position', async () => {
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

  it('is refused when another secret signed it, or the secret signed something else', async () => {
    const encoded = Buffer.from(position).toString('base64url');
    const forged = createHmac('sha256', 'another secret').update(position).digest('base64url');
    const bare = createHmac('sha256', secret).update(position).digest('base64url');
    const token = await issueToken({ id: 1, email: 'a@b', role: 'admin' });

    for (const cursor of [`${encoded}.${forged}`, `${encoded}.${bare}`, token]) {
      await expect(decodeCursor(scope, cursor)).rejects.toEqual(refused);
    }
  });
});

/** Parses a query as it stands in a URL. */
const parse = (rawQueryString: string, accept = '*/*') =>
  parseAuditQuery({
    ...gatewayEvent({ headers: { accept } }),
    rawQueryString,
  } as unknown as ApiRequest);

const outcomeOf = (query: string, accept?: string): unknown => {
  try {
    return parse(query, accept).filter;
  } catch (error) {
    const { code, message } = error as Error & { code: string };
    return code === 'PARAMETER_INVALID' ? message : error;
  }
};

describe('The audit query', () => {
  // What they sign must stay as it is: a client goes on with its cursors after an update.
  it.each([
    ['', 'audit-logs?userId=&action='],
    ['order=desc&limit=7', 'audit-logs?userId=&action='],
    ['action=LOGIN&userId=007', 'audit-logs?userId=7&action=LOGIN'],
    [
      'until=2026-11-21&since=2026-11-20T09:00:00%2B01:00&resourceId=a%26b',
      'audit-logs?userId=&action=&resourceId=a%26b&since=2026-11-20T08%3A00%3A00.000Z&until=2026-11-21T00%3A00%3A00.000Z',
    ],
    ['userId=0&result=FAILURE&order=asc', 'audit-logs?userId=0&action=&result=FAILURE&order=asc'],
  ])('"%s" has cursors of the scope %s', (query, scope) => {
    expect(parse(query).scope).toBe(scope);
  });

  it.each([
    ['application/json', '', { format: undefined, limit: 100 }],
    ['text/csv', '', { format: 'csv', limit: 1000 }],
    ['application/x-ndjson', '', { format: 'ndjson', limit: 1000 }],
    ['application/x-ndjson', 'limit=1000', { format: 'ndjson', limit: 1000 }],
  ])('for %s with "%s" is for %o', (accept, query, expected) => {
    const { format, page } = parse(query, accept);

    expect({ format, limit: page.limit }).toEqual(expected);
  });

  it.each([
    ['userId=0', { userId: 0 }],
    ['userId=-1', { userId: -1 }],
    ['userId=-0', { userId: -0 }],
    ['userId=9007199254740991', { userId: 9_007_199_254_740_991 }],
    [`userId=${'0'.repeat(20)}7`, { userId: 7 }],
    ['resourceId=007', { resourceId: '007' }],
    [`resourceId=${'%F0%9F%98%80'.repeat(100)}`, { resourceId: '😀'.repeat(100) }],
    ['&', {}],
    ['&&action=READ&', { action: 'READ' }],
  ])('"%s" is for the filter %o', (query, filter) => {
    expect(outcomeOf(query)).toEqual(filter);
  });
});

/** Values of `limit` that are refused where pages hold so many entries at most. */
const badLimits = (most: number): readonly string[] => [
  String(most + 1),
  String(most * 10),
  '',
  '0',
  '-1',
  '1.5',
  '1e1',
  '0x10',
  '01',
  '+1',
  '%201',
  '1%20',
  'ten',
  'NaN',
  'Infinity',
  '9007199254740993',
  '99999999999999999999',
  '1,2',
  '[1]',
  'null',
];

describe('The audit query is refused', () => {
  it.each(['', 'delete', 'Delete', 'DROP', 'CREATE,READ', '%20CREATE', 'constructor', 'null', '1'])(
    'with action=%s',
    (action) => {
      expect(outcomeOf(`action=${action}`)).toBe(
        'action must be one of CREATE, READ, UPDATE, DELETE, LOGIN, LOGOUT, EXPORT',
      );
    },
  );

  it.each([
    '',
    '1.5',
    '1e3',
    '0x10',
    'abc',
    '%201',
    '1%20',
    '+1',
    '1,2',
    'null',
    'NaN',
    '--1',
    '-',
    '9007199254740993',
    '-9007199254740993',
    '99999999999999999999',
    '%D9%A1',
    '__proto__',
  ])('with userId=%s', (userId) => {
    expect(outcomeOf(`userId=${userId}`)).toBe('userId must be an integer');
  });

  it.each(['', 'failure', 'FAILED', 'SUCCESS,FAILURE'])('with result=%s', (result) => {
    expect(outcomeOf(`result=${result}`)).toBe('result must be one of SUCCESS, FAILURE');
  });

  it.each(['', 'DESC', 'newest'])('with order=%s', (order) => {
    expect(outcomeOf(`order=${order}`)).toBe('order must be one of desc, asc');
  });

  it.each([
    ['', 'at least 1 character'],
    ['x'.repeat(101), 'at most 100 characters'],
  ])('with resourceId=%s', (resourceId, rule) => {
    expect(outcomeOf(`resourceId=${resourceId}`)).toBe(`resourceId must be ${rule}`);
  });

  it.each(badLimits(100))('with limit=%s', (limit) => {
    expect(outcomeOf(`limit=${limit}`)).toBe('limit must be a whole number from 1 to 100');
  });

  it.each(badLimits(1000))('with limit=%s, also for text', (limit) => {
    expect(outcomeOf(`limit=${limit}`, 'text/csv')).toBe(
      'limit must be a whole number from 1 to 1000',
    );
  });

  it.each([
    ['since=yesterday', /^since must be a date such as /],
    // A plus that is not encoded is a space.
    ['until=2026-11-20T09:00:00+01:00', /^until must be a date such as /],
    ['since=2026-11-20&until=2026-11-20', /^since must be before until$/],
    ['since=2026-11-21&until=2026-11-20', /^since must be before until$/],
    ['since=2026-11-20T09:00:00Z&until=2026-11-20T10:00:00%2B01:00', /before until$/],
    ['since=2026-11-20T09:00:00-00:01&until=2026-11-20T09:00:00Z', /before until$/],
  ])('with the times %s', (query, message) => {
    expect(outcomeOf(query)).toMatch(message);
  });

  it.each([
    ['resource_id=17', 'resource_id'],
    ['from=', 'from'],
    ['USERID=5', 'USERID'],
    ['userId=1&constructor', 'constructor'],
    ['%5F_proto__=1', '__proto__'],
    ['userId%20=1', 'userId '],
    ['userId%5B%5D=1', 'userId[]'],
    ['%zz=1', '%zz'],
    ['x=1&y=2', 'x'],
    ['&=&', 'A parameter without a name'],
  ])('with %s, which holds an unknown parameter', (query, name) => {
    expect(outcomeOf(query)).toBe(
      `${name} is unknown; the parameters are userId, action, result, resourceId, since, until, order, limit, cursor`,
    );
  });

  it.each([
    ['userId=1&userId=1', 'userId'],
    ['action=READ&userId=1&action=READ', 'action'],
    ['limit=1&%6Cimit=2', 'limit'],
    ['cursor=x&cursor', 'cursor'],
  ])('with %s, which repeats a parameter', (query, name) => {
    expect(outcomeOf(query)).toBe(`${name} must be given only once`);
  });
});
