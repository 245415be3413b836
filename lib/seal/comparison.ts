/** Compares the lines of files with the table, on the disk (lib/seal/README.md, Verification). */
import { hasExpired } from '../audit/retention.ts';
import {
  type Item,
  idText,
  isTime,
  keyOf,
  lineOf,
  numberIn,
  replayedBy,
  sha256,
  timeIn,
} from './line.ts';
import { openScratch } from './spool.ts';
import type { EntrySource } from './table.ts';

const tables = `
  CREATE TABLE sealed (id INTEGER PRIMARY KEY, hash BLOB, number INTEGER, expired INTEGER) WITHOUT ROWID;
  CREATE TABLE found (id INTEGER PRIMARY KEY, kind TEXT, number INTEGER, after TEXT) WITHOUT ROWID;
  CREATE TABLE unmatched (id INTEGER PRIMARY KEY, key TEXT, created_at TEXT, line TEXT) WITHOUT ROWID;
  CREATE TABLE listed (id INTEGER PRIMARY KEY, since TEXT) WITHOUT ROWID`;

/** How many sealed entries are looked up by their ids at once. */
const batchSize = 100;

/** Milliseconds by which a clock that wrote an entry may be ahead. */
const aheadAllowed = 600_000;

/** An entry of the table that no file has. */
export interface Unmatched {
  readonly id: string;
  readonly key: string;
  readonly created_at: string;
  readonly line: string;
}

/** What is found of a sealed entry. */
interface Found {
  readonly kind: 'changed' | 'deleted';
  /** The line that it has now. */
  readonly after: string | undefined;
}

const foundIn = ({ kind, after }: Readonly<Record<string, unknown>>): Found => ({
  kind: kind === 'changed' ? kind : 'deleted',
  after: after === null ? undefined : String(after),
});

const expiredBy = ({ created_at, expires_at }: Item, now: number): boolean =>
  isTime(created_at) && hasExpired({ created_at, expires_at }, now);

const createdAt = ({ created_at }: Item): string =>
  typeof created_at === 'string' ? created_at : '';

/** Opens an empty comparison, which the caller closes. @param now milliseconds since 1970 */
export const openComparison = (now: number) => {
  const { change, has, rows, close } = openScratch(tables);
  const insert = change('INSERT OR IGNORE INTO sealed VALUES (?, ?, ?, ?)');
  const differs = change(`INSERT OR IGNORE INTO found
    SELECT id, 'changed', number, ? FROM sealed WHERE id = ? AND hash <> ?`);
  const take = change('DELETE FROM sealed WHERE id = ? AND hash = ?');
  const isSealed = has('sealed WHERE id = ?');
  const addUnmatched = change('INSERT OR IGNORE INTO unmatched VALUES (?, ?, ?, ?)');
  const takeUnmatched = change('DELETE FROM unmatched WHERE id = ? AND line = ?');
  const changedElsewhere = change(`INSERT OR IGNORE INTO found
    SELECT id, 'changed', ?, line FROM unmatched WHERE id = ?`);
  const dropUnmatched = change('DELETE FROM unmatched WHERE id = ?');
  const rest = rows(`SELECT id FROM sealed WHERE id > ? AND id NOT IN (SELECT id FROM found)
    ORDER BY id LIMIT ${batchSize}`);
  const restFirst = rows(`SELECT id FROM sealed WHERE id NOT IN (SELECT id FROM found)
    ORDER BY id LIMIT ${batchSize}`);
  const list = change('INSERT OR IGNORE INTO listed VALUES (?, ?)');
  const latest = now + aheadAllowed;
  let entries = 0;

  /** Whether both times of an entry are such that a service may have written it by now. */
  const isTimely = ({ key, created_at }: Pick<Unmatched, 'key' | 'created_at'>): boolean =>
    [timeIn(key), created_at].every((time) => isTime(time) && Date.parse(time) <= latest);

  /** Compares an item of the table with what is sealed. */
  const match = (item: Item): void => {
    const [id, line] = [idText(item.id), lineOf(item)];
    const hash = sha256(line);
    if (take(id, hash) || differs(line, id, hash) || isSealed(id)) return;
    addUnmatched(id, keyOf(item), createdAt(item), line);
  };
  return {
    /** Notes a line of a file. The first one of an id counts; another content later is a finding. */
    seal: (line: string, item: Item, number: number): void => {
      const [id, hash] = [idText(item.id), sha256(line)];
      if (insert(id, hash, number, Number(expiredBy(item, now)))) entries += 1;
      else differs(line, id, hash);
    },
    match,
    get entries() {
      return entries;
    },
    /** Looks up by their ids the entries that no item has matched. */
    lookUp: async ({ byIds }: EntrySource): Promise<void> => {
      let ids = [...restFirst()].map(({ id }) => String(id));
      while (ids.length > 0) {
        const last = ids.at(-1) ?? '';
        const numbers = ids.flatMap((id) => numberIn(JSON.parse(id)) ?? []);
        for (const item of await byIds(numbers)) match(item);
        ids = [...rest(last)].map(({ id }) => String(id));
      }
    },
    /** Judges what is not in the table. @returns how many entries have expired */
    finishSealed: (): number => {
      const open = 'sealed WHERE id NOT IN (SELECT id FROM found) AND expired =';
      const [counted] = rows(`SELECT count(*) AS expired FROM ${open} 1`)();
      change(`INSERT INTO found SELECT id, 'deleted', number, NULL FROM ${open} 0`)();
      return Number(counted?.expired);
    },
    /** The numbers of files that have lines of which something is found. */
    numbers: (): readonly number[] =>
      [...rows('SELECT DISTINCT number FROM found ORDER BY number')()].map((row) =>
        Number(row.number),
      ),
    /** What is found of an entry whose first line is in a file; told once. */
    takeFound: (() => {
      const find = rows('SELECT kind, after FROM found WHERE id = ? AND number = ?');
      const drop = change('DELETE FROM found WHERE id = ?');
      return (id: string, number: number) => {
        const [row] = find(id, number);
        if (!row) return undefined;
        drop(id);
        return foundIn(row);
      };
    })(),
    /** What is found of entries whose lines cannot be read any more. */
    *untold(): Generator<Found & { readonly id: string }> {
      const all = rows('SELECT id, kind, after FROM found ORDER BY id');
      for (const row of all()) yield { id: String(row.id), ...foundIn(row) };
    },
    /** The least and the greatest created_at of what no file has, before a key; undefined: of none. */
    unmatchedBefore: (key: string): readonly [string, string] | undefined => {
      const [row] = rows(`SELECT min(created_at) AS least, max(created_at) AS most
        FROM unmatched WHERE key < ?`)(key);
      return row && row.least !== null ? [String(row.least), String(row.most)] : undefined;
    },
    /** Compares a line of another file with what no file has had so far. */
    matchElsewhere: (line: string, { id }: Item, number: number): void => {
      const text = idText(id);
      if (takeUnmatched(text, line)) return;
      if (changedElsewhere(number, text)) dropUnmatched(text);
    },
    /** Notes what a replay lists, if a service may have written it by now. */
    list: (item: Item): void => {
      const key = keyOf(item);
      if (!isTimely({ key, created_at: createdAt(item) })) return;
      for (const id of replayedBy(item)) list(id, key.slice(0, 24));
    },
    /** Since when an entry waits that a replay lists. */
    listedSince: (() => {
      const find = rows('SELECT since FROM listed WHERE id = ?');
      return (id: string): string | undefined => {
        const [row] = find(id);
        return row && String(row.since);
      };
    })(),
    *unmatched(): Generator<Unmatched> {
      for (const row of rows('SELECT * FROM unmatched ORDER BY key, id')()) {
        const { id, key, created_at, line } = row as unknown as Unmatched;
        yield { id: String(id), key, created_at, line };
      }
    },
    isTimely,
    close,
  };
};

export type Comparison = ReturnType<typeof openComparison>;
