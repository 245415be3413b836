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
    'with the fraction %s of a second is the millisecond %s, which is not before it',
    (fraction, milliseconds) => {
      expect(v.parse(instant, `2026-11-20T09:00:00${fraction}Z`)).toBe(
        `2026-11-20T09:00:00${milliseconds}Z`,
      );
    },
  );

  it('may become the next day when it is rounded', () => {
    expect(v.parse(instant, '2026-11-20T23:59:59.9991Z')).toBe('2026-11-21T00:00:00.000Z');
  });
});
