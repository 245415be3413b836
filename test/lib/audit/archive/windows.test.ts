import { describe, expect, it } from 'vitest';
import {
  closedUntil,
  graceOf,
  recheckOf,
  timeBefore,
} from '../../../../lib/audit/archive/windows.ts';

describe('Windows of so many seconds', () => {
  it.each([
    [1, 1, 60],
    [59, 59, 354],
    [300, 60, 1800],
  ])('of %i are closed after a grace of %i and read once more for %i', (interval, grace, again) => {
    expect([graceOf(interval), recheckOf(interval)]).toEqual([grace * 1000, again * 1000]);
  });

  it('end at a multiple of the interval, a grace before they are closed', () => {
    const until = (time: string) => closedUntil(300, new Date(`2026-11-22T${time}Z`));

    expect(until('12:05:59.999')).toBe('2026-11-22T12:00:00.000Z');
    expect(until('12:06:00.000')).toBe('2026-11-22T12:05:00.000Z');
  });
});

it('No time is before the beginning', () => {
  expect(timeBefore('2026-11-22T12:00:00.000Z', 1)).toBe('2026-11-22T11:59:59.999Z');
  expect(timeBefore('0000-01-01T00:00:00.000Z', 1)).toBe('0000-01-01T00:00:00.000Z');
});
