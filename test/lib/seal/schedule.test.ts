import { describe, expect, it } from 'vitest';
import type { Check } from '../../../lib/seal/header.ts';
import {
  isCheckDue,
  isPartDue,
  isRecent,
  isUnfinished,
  nextCheck,
} from '../../../lib/seal/schedule.ts';

const now = new Date('2026-11-22T12:00:00.000Z');
const minutesAgo = (minutes: number) => new Date(now.getTime() - minutes * 60_000).toISOString();

const checkOf = (minutes: number, [entries, later]: readonly [number, number]): Check => ({
  at: minutesAgo(minutes),
  first: 1,
  last: 8,
  until: minutesAgo(minutes + 1),
  entries,
  later,
  part: null,
  findings: 0,
  named: [],
  found: null,
});

const few = [19_000, 1000] as const;
const many = [19_000, 1001] as const;

describe('A check', () => {
  // biome-ignore format: a table
  it.each([
    ['is due an hour after the last check, less two runs, and the last check is recent', 300, few, 50, true, true],
    ['is not due before an hour, less two runs, has passed', 300, few, 49, false, true],
    ['is due and not recent after an hour', 300, few, 60, true, false],
    ['is due a day after the last check, less two runs, for more than 20,000 entries', 300, many, 1430, true, true],
    ['is not due before a day, less two runs, for more than 20,000 entries', 300, many, 1429, false, true],
    ['is due and not recent after a day for more than 20,000 entries', 300, many, 1440, true, false],
    ['is due in each run if runs are rare', 3600, few, 0, true, true],
    ['is due in each run, and recent while sealing keeps up', 3600, few, 180, true, true],
    ['is due in each run, and not recent if sealing does not keep up', 3600, few, 181, true, false],
    ['is due if the time of the last check is ahead', 300, few, -50, true, true],
  ] as const)('%s', (_, interval, counts, minutes, isDue, recent) => {
    const last = checkOf(minutes, counts);

    expect(isCheckDue(last, interval, now)).toBe(isDue);
    expect(isRecent(last, interval, now.getTime())).toBe(recent);
    if (minutes >= 0) expect(nextCheck(last, interval) <= now.getTime()).toBe(isDue);
  });

  it('is due if there has been no check', () => {
    expect(isCheckDue(null, 300, now)).toBe(true);
    expect(isPartDue(null, 300, now)).toBe(true);
  });

  it.each([
    [24 * 60, true],
    [24 * 60 - 1, false],
    [0, false],
    [-60, false],
  ])(
    'whose older files were checked %i minutes before it is unfinished: %s',
    (minutes, unfinished) => {
      const part = { at: minutesAgo(10 + minutes), first: 1, last: 8 };
      const last = { ...checkOf(10, many), part };

      expect(isUnfinished(last)).toBe(unfinished);
      expect(nextCheck(last, 300) <= now.getTime()).toBe(unfinished);
      expect(isRecent(last, 300, now.getTime())).toBe(true);
    },
  );

  it('is not unfinished if there is none, or if no older files were checked', () => {
    expect([isUnfinished(null), isUnfinished(checkOf(10, many))]).toEqual([false, false]);
  });

  it('of the next part of the archive is due once a day', () => {
    const part = (minutes: number) => ({ at: minutesAgo(minutes), first: 1, last: 8 });

    const due = [1429, 1430, -1430].map((minutes) => isPartDue(part(minutes), 300, now));
    expect(due).toEqual([false, true, true]);
  });
});
