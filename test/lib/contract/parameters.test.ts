import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { instant } from '../../../lib/contract/parameters.ts';

describe('A point in time', () => {
  it.each([
    ['2026-11-20', '2026-11-20T00:00:00.000Z'],
    ['2026-11-20t09:00:00z', '2026-11-20T09:00:00.000Z'],
    ['2026-11-20T09:00:00+05:30', '2026-11-20T03:30:00.000Z'],
    ['2026-11-20T09:00:00-05:30', '2026-11-20T14:30:00.000Z'],
    ['2026-11-20T09:00:00-23:59', '2026-11-21T08:59:00.000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['2028-02-29', '2028-02-29T00:00:00.000Z'],
  ])('written as %s is %s', (text, expected) => {
    expect(v.parse(instant, text)).toBe(expected);
  });

  it.each([
    ['.5', '.500'],
    ['.042', '.042'],
    ['.0420000', '.042'],
    ['.0420001', '.043'],
    ['.0429', '.043'],
  ])(
    'with the fraction %s of a second is rounded up to the millisecond %s',
    (fraction, milliseconds) => {
      expect(v.parse(instant, `2026-11-20T09:00:00${fraction}Z`)).toBe(
        `2026-11-20T09:00:00${milliseconds}Z`,
      );
    },
  );

  it('is rounded up even into the next day', () => {
    expect(v.parse(instant, '2026-11-20T23:59:59.9991Z')).toBe('2026-11-21T00:00:00.000Z');
  });

  // biome-ignore format: a table
  it.each([
    '', 'yesterday', '2026', '2026-11', '2026-11-20T09:00', '2026-11-20T09:00:00', '20261120',
    '2026-02-29', '2026-02-30T00:00:00Z', '2026-13-01', '2026-00-10', '2026-11-31',
    '2026-11-20T24:00:00Z', '2026-11-20T09:60:00Z', '2026-11-20T23:59:60Z', '2026-11-20Z',
    '2026-11-20T09:00:00+24:00', '2026-11-20T09:00:00+01:60', '2026-11-20T09:00:00+0100',
    '2026-11-20 09:00:00Z', '2026-11-20T09:00:00.Z', ' 2026-11-20', '1763629200',
    '9999-12-31T23:59:59-01:00', '0000-01-01T00:00:00+01:00', '+012026-11-20', '-002026-11-20',
  ])('must not be written as %s', (text) => {
    const { issues } = v.safeParse(instant, text);

    expect(issues?.map(({ message }) => message)).toEqual([
      'must be a date such as 2026-11-20, or a date-time with its offset (RFC 3339) such as 2026-11-20T09:00:00Z or 2026-11-20T10:00:00%2B01:00',
    ]);
  });
});
