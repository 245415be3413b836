import type { AuditEntry } from '../contract.d.ts';
import { timeOf } from '../format.ts';

export interface Bar {
  /** Inclusive. */
  readonly from: string;
  /** Exclusive. */
  readonly until: string;
  readonly success: number;
  readonly failure: number;
}

const maxBars = 30;
const day = 86_400;

/** Seconds that a bar may cover, so that bars begin at round times; past a day, whole days. */
const widths = [1, 5, 15, 30, 60, 300, 900, 1800, 3600, 10_800, 21_600, 43_200, day];

/** The bounds of a chart, in milliseconds since 1970. */
export interface Bounds {
  readonly from: number;
  readonly until: number;
}

/**
 * Bars of equal width, oldest first, from the first entry until the last one, or between bounds.
 * @param behind seconds by which the clock of this machine is behind UTC, so that days begin at
 *   midnight
 */
export const barsOf = (
  entries: readonly Pick<AuditEntry, 'created_at' | 'result'>[],
  behind = 0,
  bounds?: Bounds,
): readonly Bar[] => {
  const secondsOf = ({ created_at }: Pick<AuditEntry, 'created_at'>) =>
    timeOf(created_at) / 1000 - behind;
  const timed = entries.filter((entry) => !Number.isNaN(secondsOf(entry)));
  const seconds = bounds
    ? [bounds.from / 1000 - behind, bounds.until / 1000 - behind]
    : timed.map(secondsOf);
  if (seconds.length === 0) return [];
  const [oldest, newest] = [Math.min(...seconds), Math.max(...seconds)];
  const countFor = (width: number) => Math.floor(newest / width) - Math.floor(oldest / width) + 1;
  const wide = Math.ceil((newest - oldest) / (maxBars - 1) / day) * day;
  const width = widths.find((each) => countFor(each) <= maxBars) ?? wide;
  const first = Math.floor(oldest / width);
  const timeAt = (bar: number) => new Date(((first + bar) * width + behind) * 1000).toISOString();
  const bars = Array.from({ length: countFor(width) }, (_, bar) => ({
    from: timeAt(bar),
    until: timeAt(bar + 1),
    success: 0,
    failure: 0,
  }));
  for (const entry of timed) {
    const bar = bars[Math.floor(secondsOf(entry) / width) - first];
    if (bar) bar[entry.result === 'SUCCESS' ? 'success' : 'failure'] += 1;
  }
  return bars;
};
