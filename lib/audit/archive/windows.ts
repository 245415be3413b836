/** The times of windows (lib/audit/README.md, Windows). */
import { beginning } from './digest.ts';

/** Milliseconds that a window stays open past its end, for entries that are being written. */
export const graceOf = (interval: number): number => Math.min(interval, 60) * 1000;

/** Milliseconds before a window that are read once more with it, at least: indexes lag. */
export const recheckOf = (interval: number): number => Math.max(6 * interval, 60) * 1000;

/** The time so many milliseconds before another one, but not before all. */
export const timeBefore = (time: string, milliseconds: number): string =>
  time === beginning ? beginning : new Date(Date.parse(time) - milliseconds).toISOString();

/** The end of the newest window that is over. */
export const closedUntil = (interval: number, now: Date): string => {
  const length = interval * 1000;
  return new Date(Math.floor((now.getTime() - graceOf(interval)) / length) * length).toISOString();
};
