import { hashOf, type Item, idText } from '../archive/line.ts';
import { openScratch } from '../archive/scratch.ts';

/** An entry of the table, as far as it is kept to be compared. */
export interface Seen {
  readonly id: string;
  readonly created_at: string;
  /** SHA-256 of its line. */
  readonly hash: string;
}

/** The entries of the table while an archive is compared with them. */
export interface Snapshot {
  add(item: Item): void;
  /** Ends adding: the entries can be found from now on. */
  sort(): void;
  find(id: unknown): Seen | undefined;
  /** Notes that the archive has an entry. */
  meet(id: unknown): void;
  /** Notes that an entry was sealed late. @returns false when that was noted before */
  noteLate(id: unknown): boolean;
  /** Entries that the archive has not, oldest first. */
  unmet(): Iterable<Seen>;
  /** Takes it away. */
  close(): void;
}

const seen = (row: unknown): Seen => {
  const { id, created_at, hash } = row as Record<string, unknown>;
  return { id: String(id), created_at: String(created_at), hash: String(hash) };
};

/** A snapshot on the disk, so that a table of any size takes the same memory. */
export const openSnapshot = (): Snapshot => {
  const database = openScratch(`CREATE TABLE scanned (id TEXT, created_at TEXT, hash TEXT);
    CREATE TABLE entries (id TEXT PRIMARY KEY, created_at TEXT, hash TEXT, met INTEGER) WITHOUT ROWID;
    CREATE TABLE late (id TEXT PRIMARY KEY) WITHOUT ROWID`);
  const insert = database.prepare('INSERT INTO scanned VALUES (?, ?, ?)');
  const select = database.prepare('SELECT * FROM entries WHERE id = ?');
  const update = database.prepare('UPDATE entries SET met = 1 WHERE id = ?');
  const insertLate = database.prepare('INSERT OR IGNORE INTO late VALUES (?)');
  const rest = database.prepare('SELECT * FROM entries WHERE met = 0 ORDER BY created_at, id');
  return {
    add: (item) => {
      insert.run(idText(item.id), idText(item.created_at ?? ''), hashOf(item));
    },
    // Sorted at once, and not one by one: a scan comes in no order, windows nearly in that of ids.
    sort: () =>
      database.exec(`INSERT OR REPLACE INTO entries
        SELECT id, created_at, hash, 0 FROM scanned ORDER BY id; DELETE FROM scanned`),
    find: (id) => {
      const row = select.get(idText(id));
      return row && seen(row);
    },
    meet: (id) => {
      update.run(idText(id));
    },
    noteLate: (id) => Number(insertLate.run(idText(id)).changes) === 1,
    *unmet() {
      for (const row of rest.iterate()) yield seen(row);
    },
    close: () => database.close(),
  };
};
