import { describe, expect, it } from 'vitest';
import { list } from '../../../functions/audit-logs/contract.ts';
import { requireQueryable } from '../../../lib/audit/query.ts';
import { checkQuery } from '../../../lib/http/endpoint.ts';
import { gatewayEvent } from '../../support/event.ts';

/** The parsed query for the raw text of a query in a URL, or the message that refuses it. */
const outcomeOf = (rawQueryString: string, accept = '*/*'): unknown => {
  const claims = { id: 1, role: 'admin' };
  const event = { ...gatewayEvent({ headers: { accept } }), rawQueryString, claims };
  try {
    return checkQuery(list, event as never);
  } catch (error) {
    const { code, message } = error as Error & { code: string };
    return code === 'PARAMETER_INVALID' ? message : error;
  }
};

describe('The audit query', () => {
  it.each([
    ['userId=0', { userId: 0 }],
    ['userId=-1', { userId: -1 }],
    ['userId=-0', { userId: -0 }],
    ['userId=9007199254740991', { userId: 9_007_199_254_740_991 }],
    [`userId=${'0'.repeat(20)}7`, { userId: 7 }],
    ['about=7&ipAddress=2001:db8::1', { about: 7, ipAddress: '2001:db8::1' }],
    ['ipAddress=::ffff:192.0.2.1', { ipAddress: '::ffff:192.0.2.1' }],
    ['resourceId=007', { resourceId: '007' }],
    [`resourceId=${'%F0%9F%98%80'.repeat(100)}`, { resourceId: '😀'.repeat(100) }],
    ['&', {}],
    ['&&action=READ&', { action: 'READ' }],
  ])('with "%s" has the filter %o', (query, filter) => {
    expect(outcomeOf(query)).toEqual(filter);
  });
});

describe('The audit query is refused', () => {
  it.each(['', 'delete', 'Delete', 'DROP', 'CREATE,READ', '%20CREATE', 'constructor', 'null', '1'])(
    'with action=%s',
    (action) => {
      expect(outcomeOf(`action=${action}`)).toBe(
        'action must be one of CREATE, READ, UPDATE, DELETE, LOGIN, LOGOUT, EXPORT',
      );
    },
  );

  // biome-ignore format: a table
  it.each([
    '', '1.5', '1e3', '0x10', 'abc', '%201', '1%20', '+1', '1,2', 'null', 'NaN', '--1', '-',
    '9007199254740993', '-9007199254740993', '99999999999999999999', '%D9%A1', '__proto__',
  ])('with userId=%s', (userId) => {
    expect(outcomeOf(`userId=${userId}`)).toBe('userId must be an integer');
    expect(outcomeOf(`about=${userId}`)).toBe('about must be an integer');
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

  // biome-ignore format: a table
  it.each([
    '', 'foo', '127.1', '192.0.2.1%20', '%20192.0.2.1', '192.0.2.1:443', '192.0.2.0/24', '[::1]',
    '::1::', 'unknown',
  ])('with ipAddress=%s', (ipAddress) => {
    expect(outcomeOf(`ipAddress=${ipAddress}`)).toBe('ipAddress must be an IP address');
  });

  // biome-ignore format: a table
  it.each([
    '101', '1000', '', '0', '-1', '1.5', '1e1', '0x10', '01', '+1', '%201', '1%20', 'ten', 'NaN',
    'Infinity', '9007199254740993', '99999999999999999999', '1,2', '[1]', 'null',
  ])('with limit=%s', (limit) => {
    expect(outcomeOf(`limit=${limit}`)).toBe('limit must be a whole number from 1 to 100');
  });

  it('with limit=1001 for a text format', () => {
    expect(outcomeOf('limit=1000', 'text/csv')).toEqual({ limit: 1000 });
    expect(outcomeOf('limit=1001', 'text/csv')).toBe('limit must be a whole number from 1 to 1000');
  });

  it.each([
    ['since=yesterday', /^since must be a date such as /],
    // A plus sign that is not encoded means a space.
    ['until=2026-11-20T09:00:00+01:00', /^until must be a date such as /],
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
  ])('with the unknown parameter in %s', (query, name) => {
    expect(outcomeOf(query)).toBe(
      `${name} is unknown; the parameters are userId, action, result, resourceId, about, ipAddress, since, until, order, limit, cursor`,
    );
  });

  it.each([
    ['userId=1&userId=1', 'userId'],
    ['action=READ&userId=1&action=READ', 'action'],
    ['limit=1&%6Cimit=2', 'limit'],
    ['cursor=x&cursor', 'cursor'],
  ])('with the repeated parameter in %s', (query, name) => {
    expect(outcomeOf(query)).toBe(`${name} must be given only once`);
  });

  const time = '2026-11-20T09:00:00.000Z';
  it.each([
    [{ since: time, until: time }, 'since must be before until'],
    [{ about: 7, userId: 7 }, 'about must not be given with userId or resourceId'],
    [{ about: 7, resourceId: '7' }, 'about must not be given with userId or resourceId'],
  ])('with %j, which do not go together', (filter, message) => {
    expect(() => requireQueryable(filter)).toThrow(message);
  });
});
