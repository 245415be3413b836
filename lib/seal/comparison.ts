/** Compares the lines of files with the table, on the disk (lib/seal/README.md, Verification). */
import { hash } from 'node:crypto';
import type { SealedLine } from './archive.ts';
import type { Finding } from './finding.ts';
import type { SignedHeader } from './header.ts';
import {
  hasLeft,
  type Item,
  idText,
  isTime,
  isTimely,
  keyOf,
  lineOf,
  numberIn,
  replayedBy,
  sha256,
} from './line.ts';
import { openScratch } from './scratch.ts';
import type { EntrySource } from './table.ts';

const tables = `
  CREATE TABLE sealed (id INTEGER PRIMARY KEY, hash TEXT, number INTEGER, expired INTEGER) WITHOUT ROWID;
  CREATE TABLE found (id INTEGER PRIMARY KEY, kind TEXT, number INTEGER, after TEXT) WITHOUT ROWID;
  CREATE TABLE unmatched (id INTEGER PRIMARY KEY, key TEXT, created_at TEXT, line TEXT) WITHOUT ROWID;
  CREATE TABLE listed (id INTEGER PRIMARY KEY, since TEXT) WITHOUT ROWID`;

/** Sealed entries that have no finding, and that have matched no item. */
const open = 'FROM sealed WHERE id NOT IN (SELECT id FROM found)';

/** How many sealed entries are looked up by their ids at once. */
const batchSize = 100;

/** The most ids that are listed of lines whose key is before the beginning of their file. */
const maxNamed = 20;

export class Comparison {
  /** How many entries have a line, and how many lines have a key that is before the beginning of their file. */
  entries = 0;
  early = 0;
  readonly earlyIds: string[] = [];
  private readonly scratch = openScratch(tables);
  private readonly sql = statements(this.scratch);
  private readonly now: number;

  /** @param now milliseconds since 1970 */
  constructor(now: number) {
    this.now = now;
  }

  /** Notes a line of a file. The first line of an id counts; a later line with other content is a finding. */
  seal({ line, item }: SealedLine, { number, from }: SignedHeader): void {
    const [id, digest] = [idText(item.id), hashOf(line)];
    if (keyOf(item) < from && this.early++ < maxNamed) this.earlyIds.push(id);
    if (this.sql.seal(id, digest, number, Number(hasLeft(item, this.now)))) this.entries += 1;
    else this.sql.differ(line, id, digest);
  }

  /** Compares an item of the table with its sealed line. */
  match(item: Item): void {
    const [id, line] = [idText(item.id), lineOf(item)];
    const digest = hashOf(line);
    if (this.sql.match(id, digest) || this.sql.differ(line, id, digest) || this.sql.isSealed(id))
      return;
    this.sql.unmatch(id, keyOf(item), textOf(item.created_at), line);
  }

  /** Looks up by their ids the sealed entries that have matched no item so far. */
  async lookUp({ byIds }: EntrySource): Promise<void> {
    const next = (last: string | number) => [...this.sql.open(last)].map(({ id }) => String(id));
    for (let ids = next(Number.MIN_SAFE_INTEGER); ids.length > 0; ids = next(ids.at(-1) ?? '')) {
      const items = await byIds(ids.flatMap((id) => numberIn(JSON.parse(id)) ?? []));
      for (const item of items) this.match(item);
    }
  }

  /** Judges sealed entries that are not in the table. @returns the number of entries that have expired */
  finishSealed(): number {
    const [row] = this.sql.expired();
    this.sql.delete();
    return Number(row?.count);
  }

  /** The numbers of the files that have the first lines of the entries with findings. */
  foundIn(): readonly number[] {
    return [...this.sql.numbers()].map(({ number }) => Number(number));
  }

  /** The finding about the entry of a line, if there is one; it is returned once. */
  found({ line, item }: SealedLine, number: number): Finding | undefined {
    const id = idText(item.id);
    const [row] = this.sql.found(id, number);
    if (!row || !this.sql.dropFound(id)) return undefined;
    return { ...findingOf(id, kindOf(row), row.after), before: line };
  }

  /** The findings about entries whose lines cannot be read any more. */
  *rest(): Generator<Finding> {
    for (const row of this.sql.rest()) yield findingOf(row.id, kindOf(row), row.after);
  }

  /**
   * The range of times of entries of the table that have matched no file so far, and whose key is before a given key.
   * @returns no limits if an entry lacks a time; undefined if there are no such entries
   */
  unmatchedBefore(key: string): { since?: string; until?: string } | undefined {
    const [{ since, until } = {}] = this.sql.times(key);
    if (since === null) return undefined;
    return isTime(since) && isTime(until) ? { since, until: `${until}~` } : {};
  }

  /** Compares a line of a file outside the part with the entries that have matched no file. */
  matchElsewhere({ line, item }: SealedLine, { number }: SignedHeader): void {
    const { matchElsewhere, differElsewhere, dropUnmatched } = this.sql;
    const id = idText(item.id);
    if (!matchElsewhere(id, line) && differElsewhere(number, id)) dropUnmatched(id);
  }

  /** Notes the entries that a replay lists, if a service may have written its entry by now. */
  list(item: Item): void {
    const key = keyOf(item);
    if (!isTimely(item, this.now)) return;
    for (const id of replayedBy(item)) this.sql.list(id, key.slice(0, 24));
  }

  /**
   * Entries of the table that are in no file. `waits` is the time since when an entry waits for the next run, if that
   * run will see it, by its own key or by the key of a replay. `place` has a key and a time to find out whether the
   * entry may have been sealed in a lost file.
   * @param look the key or time from which that run looks
   */
  *unmatched(look: string) {
    for (const { id, key, created_at, line, since } of this.sql.unmatched()) {
      const place = { key: textOf(key), created_at: textOf(created_at) };
      const times = { created_at_id: place.key, created_at: place.created_at };
      const waits = place.key >= look ? place.key.slice(0, 24) : since;
      const inserted = findingOf(id, 'inserted', line);
      yield isTimely(times, this.now)
        ? { inserted, waits: waits as string | null, place }
        : { inserted };
    }
  }

  close(): void {
    this.scratch.close();
  }
}

function statements({ change, has, rows }: ReturnType<typeof openScratch>) {
  return {
    seal: change('INSERT OR IGNORE INTO sealed VALUES (?, ?, ?, ?)'),
    isSealed: has('sealed WHERE id = ?'),
    match: change('DELETE FROM sealed WHERE id = ? AND hash = ?'),
    differ: change(`INSERT OR IGNORE INTO found
    SELECT id, 'changed', number, ? FROM sealed WHERE id = ? AND hash <> ?`),
    open: rows(`SELECT id ${open} AND id > ? ORDER BY id LIMIT ${batchSize}`),
    expired: rows(`SELECT count(*) AS count ${open} AND expired = 1`),
    delete: change(`INSERT INTO found SELECT id, 'deleted', number, NULL ${open} AND expired = 0`),
    numbers: rows('SELECT DISTINCT number FROM found ORDER BY 1'),
    found: rows('SELECT * FROM found WHERE id = ? AND number = ?'),
    dropFound: change('DELETE FROM found WHERE id = ?'),
    rest: rows('SELECT * FROM found ORDER BY id'),
    unmatch: change('INSERT OR IGNORE INTO unmatched VALUES (?, ?, ?, ?)'),
    times: rows(
      'SELECT min(created_at) AS since, max(created_at) AS until FROM unmatched WHERE key < ?',
    ),
    matchElsewhere: change('DELETE FROM unmatched WHERE id = ? AND line = ?'),
    differElsewhere: change(`INSERT OR IGNORE INTO found
    SELECT id, 'changed', ?, line FROM unmatched WHERE id = ?`),
    dropUnmatched: change('DELETE FROM unmatched WHERE id = ?'),
    list: change('INSERT OR IGNORE INTO listed VALUES (?, ?)'),
    unmatched: rows('SELECT * FROM unmatched LEFT JOIN listed USING (id) ORDER BY key, id'),
  };
}

/** Returns a text, because bytes outside the heap would cause constant garbage collection. */
function hashOf(line: string): string {
  return hash('sha256', line, 'base64');
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** A finding about an entry. @param after the line that the entry has now */
function findingOf(id: unknown, kind: Finding['kind'], after: unknown): Finding {
  const now =
    typeof after === 'string' ? { after, sha256: sha256(after).toString('hex') } : undefined;
  return { kind, subject: String(id), ...(now ?? { sha256: null }) };
}

function kindOf({ kind }: { readonly kind?: unknown }) {
  return kind === 'changed' ? kind : 'deleted';
}
