import type { AuditEntry } from '../../../client/paths.ts';
import { timeOf } from '../format.ts';

export interface Bar {
  /** Inclusive. */
  readonly from: string;
  /** Exclusive. */
  readonly until: string;
  readonly success: number;
  readonly failure: number;
}

type Timed = Pick<AuditEntry, 'created_at' | 'result'>;

const maxBars = 30;
const day = 86_400;

/** Seconds that a bar may cover, so that bars begin at round times; above a day, whole days. */
const widths = [1, 5, 15, 30, 60, 300, 900, 1800, 3600, 10_800, 21_600, 43_200, day];

/** The bounds of a chart, in milliseconds since 1970. */
export interface Bounds {
  readonly from: number;
  readonly until: number;
}

/**
 * Bars of equal width, oldest first, from the first entry until the last one, or between bounds. Bars of days
 * are calendar days, even if a change of the clock (daylight saving time) makes a day longer.
 * @param behindAt seconds by which the clock of this machine is behind UTC at a time
 */
export const barsOf = (
  entries: readonly Timed[],
  behindAt: (time: number) => number = () => 0,
  bounds?: Bounds,
): readonly Bar[] => {
  const timed = entries.filter(({ created_at }) => !Number.isNaN(timeOf(created_at)));
  const times = bounds
    ? [bounds.from, bounds.until]
    : timed.map(({ created_at }) => timeOf(created_at));
  if (times.length === 0) return [];
  const [oldest, newest] = [Math.min(...times), Math.max(...times)];
  const behind = behindAt(newest);
  const place = (time: number, width: number) =>
    (time / 1000 - (width < day ? behind : behindAt(time))) / width;
  const countFor = (width: number) =>
    Math.floor(place(newest, width)) - Math.floor(place(oldest, width)) + 1;
  const wide = Math.ceil((place(newest, day) - place(oldest, day)) / (maxBars - 1)) * day;
  const width = widths.find((each) => countFor(each) <= maxBars) ?? wide;
  const first = Math.floor(place(oldest, width));
  const timeAt = (bar: number) => {
    const local = (first + bar) * width;
    const start = width < day ? local + behind : beginOfDay(local, behindAt);
    return new Date(start * 1000).toISOString();
  };
  const bars = Array.from({ length: countFor(width) }, (_, bar) => ({
    from: timeAt(bar),
    until: timeAt(bar + 1),
    success: 0,
    failure: 0,
  }));
  for (const entry of timed) {
    const bar = bars[Math.floor(place(timeOf(entry.created_at), width)) - first];
    if (bar) bar[entry.result === 'SUCCESS' ? 'success' : 'failure'] += 1;
  }
  return bars;
};

/**
 * The first second since 1970 at which the clock of this machine shows midnight, or a later time if a change of
 * the clock (daylight saving time) skips midnight.
 * @param midnight in seconds since 1970, as if the clock were that of UTC
 */
const beginOfDay = (midnight: number, behindAt: (time: number) => number): number => {
  const [dayBefore, dayAfter] = [midnight - day, midnight + day];
  const starts = [dayBefore, dayAfter].map((near) => midnight + behindAt(near * 1000));
  const begun = starts.filter((start) => start - behindAt(start * 1000) >= midnight);
  return Math.min(...begun, Math.max(...starts));
};

/** The tops of axes whose largest value has one digit; ten times, a hundred times these are for larger values. */
const tops = [1, 2, 3, 4, 5, 6, 8, 10, 20];

/** The top of an axis of counts: a round number that is at least the largest count, and whose half is whole. */
export const topOf = (most: number): number => {
  const unit = 10 ** Math.floor(Math.log10(Math.max(1, most)));
  const rounds = tops.map((top) => top * unit);
  return rounds.find((round) => round >= most && round % 2 === 0) ?? most;
};

/** The time range of a query, as filters have it: `since` is inclusive, `until` is exclusive. Empty: no limit. */
export interface Span {
  readonly since: string;
  readonly until: string;
}

/** The time range of entries: a query for it finds no entry that came later. */
export const spanOf = (entries: readonly Timed[]): Span => {
  const times = entries.map(({ created_at }) => timeOf(created_at)).filter((time) => time >= 0);
  if (times.length === 0) return { since: '', until: '' };
  const [oldest, newest] = [Math.min(...times), Math.max(...times)];
  return { since: new Date(oldest).toISOString(), until: new Date(newest + 1).toISOString() };
};

/** The time range of a bar, limited to the entries: a query for it finds the entries that the bar counts. */
export const narrowed = ({ from, until }: Bar, entries: readonly Timed[]): Span => {
  const all = spanOf(entries);
  return {
    since: from > all.since ? from : all.since,
    until: until < all.until ? until : all.until,
  };
};
