/** When the sealer checks, and whether its last check is recent enough (lib/seal/README.md, Checks). */
import { dayInMilliseconds, hour } from '../ground/time.ts';
import { dueBefore } from './finding.ts';
import { type Check, timeBefore } from './header.ts';

/**
 * When the next check is due, in milliseconds since 1970; for an unfinished check a time that has passed, because each
 * run goes on with it.
 * @param interval seconds from run to run
 */
export function nextCheck(last: Check, interval: number): number {
  const begun = Date.parse(last.at);
  return isUnfinished(last) ? begun : begun + waitOf(periodOf(last), interval);
}

/** Whether the next run goes on with a check. A finished check has a part of the older files of less than a day before. */
export function isUnfinished(last: Check | null): boolean {
  const { at, part } = last ?? {};
  return at !== undefined && part?.at !== undefined && part.at <= unfinishedPart(at);
}

/** The time of the part of the older files while a check of a given time is not finished. */
export function unfinishedPart(at: string): string {
  return timeBefore(at, dayInMilliseconds);
}

/** Whether the newest two days are to be checked again. */
export function isCheckDue(last: Check | null, interval: number, now: Date): boolean {
  return last === null || isPast(last.at, waitOf(periodOf(last), interval), now);
}

/** Whether the next part of the older files is to be checked. */
export function isPartDue(part: Check['part'], interval: number, now: Date): boolean {
  return part === null || isPast(part.at, waitOf(dayInMilliseconds, interval), now);
}

/** Whether a check has covered all entries of an hour ago, or of a day ago if checks are daily. */
export function isRecent(last: Check, interval: number, now: number): boolean {
  const since = new Date(now - periodOf(last)).toISOString();
  // Where runs are rare, no check can be more recent than a run.
  return last.until >= since || last.until >= dueBefore(interval, now);
}

/** Milliseconds from one check to the next, short enough that a check may fail within the period. */
function waitOf(period: number, interval: number): number {
  return Math.max(0, period - 2 * interval * 1000);
}

/** The most entries of two days that are checked every hour; more are checked daily, as a check reads all of them. */
const mostEachHour = 20_000;

/** Milliseconds within which new entries of the trail are to be checked. */
function periodOf({ entries, later }: Check): number {
  return entries + later > mostEachHour ? dayInMilliseconds : hour * 1000;
}

/** Whether a time is at least a wait away, in either direction: a clock that was ahead must not delay checks. */
function isPast(at: string, wait: number, now: Date): boolean {
  return Math.abs(now.getTime() - Date.parse(at)) >= wait;
}
