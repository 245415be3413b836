/** Entries counted by time and result. */
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

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** Milliseconds that a bar may cover, so that bars begin at round times. */
const widths = [
  1000,
  5000,
  15_000,
  30_000,
  minute,
  5 * minute,
  15 * minute,
  30 * minute,
  hour,
  3 * hour,
  6 * hour,
  12 * hour,
  day,
];

/**
 * Bars of equal width, oldest first, from the first entry until the last one.
 * @param offset milliseconds by which the clock of this machine is ahead of UTC, so that days begin
 * at midnight
 */
export const barsOf = (
  all: readonly Pick<AuditEntry, 'created_at' | 'result'>[],
  offset = 0,
): readonly Bar[] => {
  const entries = all.filter(({ created_at }) => timeOf(created_at) >= 0);
  const times = entries.map(({ created_at }) => timeOf(created_at));
  const oldest = times.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const newest = times.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  if (entries.length === 0) return [];
  const startFor = (width: number) => {
    const step = Math.min(width, day);
    return Math.floor((oldest + offset) / step) * step - offset;
  };
  const countFor = (width: number) => Math.floor((newest - startFor(width)) / width) + 1;
  const wide = Math.ceil((newest - oldest) / (maxBars - 1) / day) * day;
  const width = widths.find((each) => countFor(each) <= maxBars) ?? wide;
  const start = startFor(width);
  const bars = Array.from({ length: countFor(width) }, (_, index) => ({
    from: new Date(start + index * width).toISOString(),
    until: new Date(start + (index + 1) * width).toISOString(),
    success: 0,
    failure: 0,
  }));
  for (const [index, { result }] of entries.entries()) {
    const bar = bars[Math.floor(((times[index] ?? start) - start) / width)];
    if (bar) bar[result === 'SUCCESS' ? 'success' : 'failure'] += 1;
  }
  return bars;
};
