import { describe, expect, it } from 'vitest';
import { type AuditedAction, makeAuditId, makeEntry, redact } from '../../../lib/audit/entry.ts';

const now = new Date('2026-11-21T09:05:07.042Z');
const login: AuditedAction = { action: 'LOGIN', resource: 'users', result: 'SUCCESS' };
const entryOf = (fields: Partial<AuditedAction>) => makeEntry({ ...login, ...fields }, { now });

describe('makeEntry', () => {
  it('keeps the given fields and adds id and time', () => {
    const action: AuditedAction = {
      user_id: 7,
      action: 'DELETE',
      resource: 'users',
      resource_id: '12',
      ip_address: '2001:db8::1',
      user_agent: 'curl/8',
      result: 'FAILURE',
      details: { error: 'ThrottlingException' },
    };

    expect(makeEntry(action, { now, random: () => 5 })).toEqual({
      ...action,
      details: '{"error":"ThrottlingException"}',
      id: makeAuditId(now, () => 5),
      created_at: '2026-11-21T09:05:07.042Z',
    });
  });

  it('has the machine and its time only where they are given', () => {
    const fields = { machine_id: 3, occurred_at: '2026-11-21T09:00:00.000Z' };

    expect(entryOf(fields)).toMatchObject(fields);
    expect(Object.keys(entryOf({}))).not.toEqual(expect.arrayContaining(['machine_id']));
    expect(Object.keys(entryOf({}))).not.toEqual(expect.arrayContaining(['occurred_at']));
  });

  it('stores absent fields as null', () => {
    expect(entryOf({})).toMatchObject({
      user_id: null,
      resource_id: null,
      ip_address: null,
      user_agent: null,
      details: null,
    });
  });

  it('stores empty text as null in the fields where it has no meaning', () => {
    const { resource_id, ip_address, user_agent } = entryOf({
      resource_id: '',
      ip_address: '',
      user_agent: '',
    });

    expect([resource_id, ip_address, user_agent]).toEqual([null, null, null]);
  });

  it('writes a numeric resource id as text', () => {
    expect(entryOf({ resource_id: 0 }).resource_id).toBe('0');
    expect(entryOf({ resource_id: 9_007_199_254_740_991 }).resource_id).toBe('9007199254740991');
  });

  it.each([
    ['resource', 100],
    ['resource_id', 100],
    ['ip_address', 45],
    ['user_agent', 1024],
  ] as const)('cuts %s after %i characters, and never inside a character', (field, limit) => {
    const cases = [
      ['x'.repeat(limit), 'x'.repeat(limit)],
      ['x'.repeat(limit + 1), 'x'.repeat(limit)],
      ['😀'.repeat(limit), '😀'.repeat(limit)],
      ['😀'.repeat(limit + 1), '😀'.repeat(limit)],
      [`${'x'.repeat(limit - 1)}😀y`, `${'x'.repeat(limit - 1)}😀`],
    ] as const;

    for (const [given, kept] of cases) expect(entryOf({ [field]: given })[field]).toBe(kept);
  });

  it.each([
    [
      { reason: 'wrong_password', password: 'x' },
      '{"reason":"wrong_password","password":"[REDACTED]"}',
    ],
    [{}, '{}'],
    [['a', { token: 'b' }], '["a",{"token":"b"}]'],
    [7, '7'],
    [false, 'false'],
    ['plain text', 'plain text'],
    ['{"password":"already text"}', '{"password":"already text"}'],
    ['', ''],
    [null, null],
    [undefined, null],
  ])('stores the details %j as %j', (details, stored) => {
    expect(entryOf({ details }).details).toBe(stored);
  });

  it('draws a new id each time and takes the present time by default', () => {
    const before = Date.now();

    const entry = makeEntry(login);

    const createdAt = Date.parse(entry.created_at);
    expect(createdAt).toBeGreaterThanOrEqual(before);
    expect(createdAt).toBeLessThanOrEqual(Date.now());
    expect(entry.id).toBeGreaterThanOrEqual(makeAuditId(new Date(createdAt), () => 0));
    expect(
      new Set(Array.from({ length: 20 }, () => makeEntry(login, { now }).id)).size,
    ).toBeGreaterThan(1);
  });
});

describe('makeAuditId', () => {
  const lowest = () => 0;
  const highest = (below: number) => below - 1;

  it('makes all ids of one millisecond smaller than all ids of the next millisecond', () => {
    const next = new Date(now.getTime() + 1);

    expect(makeAuditId(now, highest)).toBeLessThan(makeAuditId(next, lowest));
    expect(makeAuditId(next, lowest) - makeAuditId(now, highest)).toBe(1);
  });

  it('makes up to 4,096 different ids per millisecond', () => {
    const asked: number[] = [];

    makeAuditId(now, (below) => asked.push(below));

    expect(asked).toEqual([4096]);
  });

  // biome-ignore format: a table
  it.each([
    '2026-01-01T00:00:00.000Z', '2050-06-30T12:00:00.000Z', '2094-12-31T23:59:59.999Z',
    '1901-12-13T20:45:52.000Z', '1969-12-31T23:59:59.999Z', '1970-01-01T00:00:00.000Z',
    '2025-12-31T23:59:59.999Z', '2095-09-07T15:47:35.552Z', '2262-04-11T23:47:16.854Z',
  ])('is a safe integer that is not negative at %s', (time) => {
    const next = new Date(Date.parse(time) + 1);
    for (const random of [lowest, highest]) {
      const id = makeAuditId(new Date(time), random);
      expect(Number.isSafeInteger(id)).toBe(true);
      expect(id).toBeGreaterThanOrEqual(0);
      expect(makeAuditId(next, random)).not.toBe(id);
    }
  });

  it('draws a random tail within its bounds by default', () => {
    for (let i = 0; i < 1000; i += 1) {
      const id = makeAuditId(now);
      expect(id).toBeGreaterThanOrEqual(makeAuditId(now, lowest));
      expect(id).toBeLessThanOrEqual(makeAuditId(now, highest));
    }
  });
});

describe('redact', () => {
  it.each([
    ['a number', 4111],
    ['zero', 0],
    ['false', false],
    ['an object', { plain: 'value' }],
    ['an array', ['value']],
    ['an empty object', {}],
    ['white space', ' '],
  ])('hides a sensitive value that is %s', (_, value) => {
    expect(redact({ secret: value })).toEqual({ secret: '[REDACTED]' });
  });

  it.each([undefined, null, ''])('leaves a sensitive key alone if its value is %j', (value) => {
    expect(redact({ token: value })).toEqual({ token: value });
  });

  it('hides the values of all sensitive keys of an object, and no other values', () => {
    expect(
      redact({ password: 'a', token: 'b', secret: 'c', creditCard: 'd', apiKey: 'e', other: 'f' }),
    ).toEqual({
      password: '[REDACTED]',
      token: '[REDACTED]',
      secret: '[REDACTED]',
      creditCard: '[REDACTED]',
      apiKey: '[REDACTED]',
      other: 'f',
    });
  });

  it('compares keys exactly, and only keys at the top level', () => {
    const details = { Password: 'a', api_key: 'b', nested: { password: 'c' }, passwords: ['d'] };

    expect(redact(details)).toEqual(details);
  });

  it('does not change its argument', () => {
    const details = { password: 'value' };

    redact(details);

    expect(details).toEqual({ password: 'value' });
  });

  it('treats __proto__ like any other key', () => {
    const redacted = redact(JSON.parse('{"__proto__":{"password":"value"}}'));

    expect(Object.keys(redacted as object)).toEqual(['__proto__']);
    expect(({} as { password?: string }).password).toBeUndefined();
  });

  it.each([undefined, null, '', 'password', 0, 7, true, [{ password: 'value' }]])(
    'returns %j unchanged, because it is not an object',
    (details) => {
      expect(redact(details)).toBe(details);
    },
  );
});
