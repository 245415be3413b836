/** The findings of a verification, and the time by which entries are due to be sealed. */
import { graceOf, timeBefore } from './header.ts';

export const findingKinds = {
  unsigned: 'is not signed by the key',
  foreign: 'has the name of an archive file, but is not an archive file',
  altered: 'was changed after it was sealed',
  missing: 'is missing, or another file has its name',
  changed: 'was changed after it was sealed',
  deleted: 'was sealed, but is not in the table',
  inserted: 'is in the table, but was not sealed when it should have been',
} as const;

export interface Finding {
  readonly kind: keyof typeof findingKinds;
  /** The id of an entry, or the number of a file, or the numbers of several files with the same finding. */
  readonly subject: string;
  /** How many files the subject names, if there are several. */
  readonly count?: number;
  /** For an entry its line, as sealed and as now; for a file an explanation. */
  readonly before?: string;
  readonly after?: string;
  /** SHA-256 of the line or file that was found in place of the sealed one; null: nothing was found. */
  readonly sha256: string | null;
}

/** Milliseconds for which sealing may pause, however short its interval is. */
const standstill = 300_000;

/**
 * The time before which a service that runs has sealed all entries.
 * @param interval seconds from run to run @param now milliseconds since 1970
 */
export function dueBefore(interval: number, now: number): string {
  return timeBefore(
    new Date(now).toISOString(),
    Math.max(3 * interval * 1000 + graceOf(interval), standstill),
  );
}
