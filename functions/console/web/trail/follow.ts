/** Follows the trail: adds new entries to the entries that are shown. */
import type { AuditEntry } from '../../../client/paths.ts';
import { timeOf } from '../format.ts';

type Entries = readonly AuditEntry[];

export interface Part {
  readonly data: Entries;
  /** Whether the query has more entries than are read. */
  readonly isFull: boolean;
}

/** The most entries of a query that the console reads and keeps. */
export const mostEntries = 10_000;

/** Each look reads again from this many milliseconds before the newest entry, because indexes show entries late. */
const reread = 60_000;

/**
 * The time from which a look reads: a minute before the newest entry that is shown, which may be long ago after
 * a pause.
 * @param since the beginning of the query, or nothing
 */
export const rereadFrom = (shown: Entries, since: string): string => {
  const newest = shown.map(({ created_at }) => timeOf(created_at)).find((time) => time > reread);
  if (!newest) return since;
  const from = new Date(newest - reread).toISOString();
  return from < since ? since : from;
};

/** The found entries that are not shown yet. */
export const newOf = (shown: Entries, found: Entries): Entries => {
  const known = new Set(shown.map(({ id }) => id));
  return found.filter(({ id }) => !known.has(id));
};

const byNewest = (a: AuditEntry, b: AuditEntry): number =>
  a.created_at === b.created_at ? b.id - a.id : a.created_at < b.created_at ? 1 : -1;

/** The entries with the found entries added, each entry once, newest first. */
export const merge = ({ data, isFull }: Part, found: Entries): Part => {
  const all = [...newOf(data, found), ...data].sort(byNewest);
  return { data: all.slice(0, mostEntries), isFull: isFull || all.length > mostEntries };
};
