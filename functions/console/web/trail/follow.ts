/** Following the trail: what was found since is put among what is shown. */
import type { AuditEntry } from '../contract.d.ts';
import { timeOf } from '../format.ts';

/** The most entries that the page keeps. */
export const maxRows = 2000;

/** Milliseconds from one look to the next. */
export const pause = 5000;

/** Milliseconds before the newest entry that each look reads again: indexes show entries late. */
const reread = 60_000;

const byNewest = (a: AuditEntry, b: AuditEntry): number =>
  a.created_at === b.created_at ? b.id - a.id : a.created_at < b.created_at ? 1 : -1;

/**
 * From when on a look reads: a minute before the newest entry that is shown, which after a pause
 * is long ago.
 * @param since the beginning of the query, or nothing
 */
export const rereadFrom = (shown: readonly AuditEntry[], since: string): string => {
  const newest = shown.map(({ created_at }) => timeOf(created_at)).find((time) => time > reread);
  if (!newest) return since;
  const from = new Date(newest - reread).toISOString();
  return from < since ? since : from;
};

/** Entries with those that were found, each once, newest first, and how many are new. */
export const merge = (
  shown: readonly AuditEntry[],
  found: readonly AuditEntry[],
): { readonly rows: readonly AuditEntry[]; readonly added: number } => {
  const known = new Set(shown.map(({ id }) => id));
  const added = found.filter(({ id }) => !known.has(id));
  if (added.length === 0) return { rows: shown, added: 0 };
  return { rows: [...added, ...shown].sort(byNewest).slice(0, maxRows), added: added.length };
};
