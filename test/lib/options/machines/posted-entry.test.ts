import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { ownResources } from '../../../../lib/audit/entry.ts';
import { isPosted } from '../../../../lib/audit/index-keys.ts';
import { validate } from '../../../../lib/ground/validation.ts';
import { maxEntries, postedEntries } from '../../../../lib/options/machines/posted-entry.ts';

const order = { action: 'CREATE', resource: 'shop.orders', result: 'SUCCESS' };

/** What a body with these entries is read as: the entries, or the faults. */
const read = (entries: unknown) => {
  const validated = validate(v.object({ entries: postedEntries(entries) }), { entries });
  return 'output' in validated
    ? { entries: validated.output.entries }
    : { faults: validated.faults.map(({ field, code, rule }) => `${field} ${code} ${rule}`) };
};
const faultOf = (fields: object) => {
  const { faults = [] } = read([JSON.parse(JSON.stringify({ ...order, ...fields }))]);
  return faults.map((fault) => fault.replace('entries/0/', ''));
};
const isTaken = (fields: object) => read([{ ...order, ...fields }]).faults === undefined;
/** Details whose JSON has so many bytes. */
const detailsOf = (bytes: number, character = 'x') => ({
  a: character.repeat((bytes - '{"a":""}'.length) / Buffer.byteLength(character)),
});

/** Rows with a short title of their fields. */
const titled = <Row extends readonly [object, ...unknown[]]>(rows: readonly Row[]) =>
  rows.map((row) => [JSON.stringify(row[0]).slice(0, 60), ...row] as const);

describe('An entry that a machine posts', () => {
  it.each(
    titled<[object]>([
      [{}],
      [{ action: 'EXPORT', result: 'FAILURE' }],
      [{ resource: 'a.b' }],
      [{ resource: 'a-9.0' }],
      [{ resource: `a.${'b'.repeat(98)}` }],
      [{ resource: 'shop.users' }],
      [{ resource: 'user.orders' }],
      [{ resource: 'users-of.shop' }],
      [{ resourceId: '😀'.repeat(100) }],
      [{ userId: 1 }],
      [{ userId: Number.MAX_SAFE_INTEGER }],
      [{ ipAddress: '2001:db8::1', userAgent: 'x'.repeat(1024) }],
      [{ details: {} }],
      [{ details: detailsOf(2048) }],
      [{ details: detailsOf(2048, 'é') }],
      [{ details: { text: '\u0000\ud800' } }],
      [{ occurredAt: '2026-11-20T09:00:00Z' }],
      [{ resourceId: null, userId: null, ipAddress: null, userAgent: null, details: null }],
      [{ occurredAt: null }],
      [{ unknown: 1 }],
    ]),
  )('may have %s', (_, fields) => {
    expect(faultOf(fields)).toEqual([]);
  });

  it.each(
    titled<[object, string]>([
      [{ action: 'LOGIN' }, 'action UNKNOWN_VALUE'],
      [{ action: 'LOGOUT' }, 'action UNKNOWN_VALUE'],
      [{ action: undefined }, 'action REQUIRED'],
      [{ resource: undefined }, 'resource REQUIRED'],
      [{ result: undefined }, 'result REQUIRED'],
      [{ result: 'OK' }, 'result UNKNOWN_VALUE'],
      [{ resource: 'users' }, 'resource INVALID_FORMAT'],
      [{ resource: '' }, 'resource INVALID_FORMAT'],
      [{ resource: '.orders' }, 'resource INVALID_FORMAT'],
      [{ resource: 'shop.' }, 'resource INVALID_FORMAT'],
      [{ resource: 'shop..orders' }, 'resource INVALID_FORMAT'],
      [{ resource: 'Shop.orders' }, 'resource INVALID_FORMAT'],
      [{ resource: 'shop.Orders' }, 'resource INVALID_FORMAT'],
      [{ resource: '9shop.orders' }, 'resource INVALID_FORMAT'],
      [{ resource: 'shop.orders#1' }, 'resource INVALID_FORMAT'],
      [{ resource: 'shop.orders\n' }, 'resource INVALID_FORMAT'],
      [{ resource: `a.${'b'.repeat(99)}` }, 'resource TOO_LONG'],
      [{ resource: 'users.orders' }, 'resource UNKNOWN_VALUE'],
      [{ resource: 'audit-logs.TAMPERED' }, 'resource INVALID_FORMAT'],
      [{ resource: 'audit-logs.tampered' }, 'resource UNKNOWN_VALUE'],
      [{ resource: 'machines.x' }, 'resource UNKNOWN_VALUE'],
      [{ resourceId: '' }, 'resourceId TOO_SHORT'],
      [{ resourceId: 7 }, 'resourceId WRONG_TYPE'],
      [{ resourceId: 'x'.repeat(101) }, 'resourceId TOO_LONG'],
      [{ resourceId: 'a\nb' }, 'resourceId INVALID_FORMAT'],
      [{ resourceId: '\ud800' }, 'resourceId NOT_WELL_FORMED'],
      [{ userId: 0 }, 'userId INVALID_FORMAT'],
      [{ userId: -1 }, 'userId INVALID_FORMAT'],
      [{ userId: 1.5 }, 'userId INVALID_FORMAT'],
      [{ userId: 2 ** 53 }, 'userId INVALID_FORMAT'],
      [{ userId: '1' }, 'userId WRONG_TYPE'],
      [{ ipAddress: '192.0.2.1:80' }, 'ipAddress INVALID_FORMAT'],
      [{ ipAddress: 'fe80::1%eth0' }, 'ipAddress INVALID_FORMAT'],
      [{ ipAddress: '' }, 'ipAddress INVALID_FORMAT'],
      [{ userAgent: 'x'.repeat(1025) }, 'userAgent TOO_LONG'],
      [{ userAgent: 'a\tb' }, 'userAgent INVALID_FORMAT'],
      [{ userAgent: 'a\udc00' }, 'userAgent NOT_WELL_FORMED'],
      [{ details: [] }, 'details WRONG_TYPE'],
      [{ details: 'text' }, 'details WRONG_TYPE'],
      [{ details: detailsOf(2049) }, 'details TOO_LONG'],
      [{ details: detailsOf(2050, 'é') }, 'details TOO_LONG'],
      [{ occurredAt: '2026-11-20' }, 'occurredAt INVALID_FORMAT'],
      [{ occurredAt: '2026-02-30T09:00:00Z' }, 'occurredAt INVALID_FORMAT'],
      [{ occurredAt: '2026-11-20T09:00:00' }, 'occurredAt INVALID_FORMAT'],
    ]),
  )('is refused with %s', (_, fields, fault) => {
    const [first = ''] = faultOf(fields);

    expect(first.startsWith(`${fault} `)).toBe(true);
  });

  it('has its time in UTC, and its details as they are stored', () => {
    const given = { occurredAt: '2026-11-20T10:00:00.0001+01:00', details: { a: [1, null] } };

    expect(read([{ ...order, ...given }]).entries).toEqual([
      { ...order, occurredAt: '2026-11-20T09:00:00.001Z', details: '{"a":[1,null]}' },
    ]);
  });

  it('has no sensitive value at any depth of its details', () => {
    const secrets = { password: 'x', token: { a: 1 }, secret: '', creditCard: [1], apiKey: null };
    const details = { ...secrets, deep: [{ deeper: { ...secrets, Password: 'x' } }] };

    const [entry] = read([{ ...order, details }]).entries ?? [];

    const hidden = {
      ...{ password: '[REDACTED]', token: '[REDACTED]', secret: '' },
      ...{ creditCard: '[REDACTED]', apiKey: null },
    };
    expect(JSON.parse(String(entry?.details))).toEqual({
      ...hidden,
      deep: [{ deeper: { ...hidden, Password: 'x' } }],
    });
  });

  it.each([
    ['objects', '{"a":', '}'],
    ['arrays', '{"a":[', ']}'],
  ])('is refused with %s that are nested too deep to be short', (_, open, close) => {
    const details = JSON.parse(`${open.repeat(4000)}1${close.repeat(4000)}`);

    expect(read([{ ...order, details }]).faults).toEqual([
      'entries/0/details TOO_LONG must be at most 2048 bytes as JSON',
    ]);
  });

  it('may have details that are as deep as 2,048 bytes can be', () => {
    const arrays = (2048 - '{"a":}'.length) / 2;
    const details = JSON.parse(`{"a":${'['.repeat(arrays)}${']'.repeat(arrays)}}`);

    expect(isTaken({ details })).toBe(true);
  });

  it('may have sensitive values that only redaction makes short enough', () => {
    expect(isTaken({ details: { password: 'x'.repeat(3000) } })).toBe(true);
  });
});

describe('The entries of a request', () => {
  it.each<[unknown, string]>([
    [[], 'entries TOO_SHORT must have at least 1 entry'],
    [{}, 'entries WRONG_TYPE must be an array'],
    [['x'], 'entries/0 WRONG_TYPE must be an object'],
    [[order, null], 'entries/1 WRONG_TYPE must be an object'],
    [[order, { ...order, userId: 0 }], 'entries/1/userId INVALID_FORMAT'],
  ])('of %j are refused by their place', (entries, fault) => {
    const { faults = [] } = read(entries);

    expect(faults).toEqual([expect.stringContaining(fault)]);
  });

  it('may be 25, and of more none is checked', () => {
    const many = (count: number) => Array.from({ length: count }, () => order);

    expect(read(many(maxEntries)).faults).toBeUndefined();
    expect(read([...many(maxEntries), {}]).faults).toEqual([
      'entries TOO_LONG must have at most 25 entries',
    ]);
  });
});

it.each(ownResources)(
  'The resource %s of the service has no dot, and begins no resource of a machine',
  (own) => {
    expect(isPosted({ resource: own })).toBe(false);
    expect(faultOf({ resource: `${own}.orders` })).toEqual([
      expect.stringContaining('resource UNKNOWN_VALUE'),
    ]);
  },
);
