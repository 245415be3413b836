import { DatabaseSync } from 'node:sqlite';
import type { ExportedEntry } from '../../lib/audit/formats.ts';

/** Entries that are to be exported, collected from the archive and the table. */
export interface GatheredEntries {
  readonly count: number;
  /** Adds an entry, unless an entry with its id was added before. */
  add(entry: ExportedEntry): void;
  /** Oldest first. */
  inOrder(): Iterable<ExportedEntry>;
  /** Deletes them. */
  close(): void;
}

/** Stores the entries on the disk, so that any number of them takes the same memory. */
export const gatherEntries = (): GatheredEntries => {
  // A database without a name is a temporary file, which SQLite deletes when the process ends.
  const database = new DatabaseSync('');
  database.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
    CREATE TABLE entries (id TEXT PRIMARY KEY, created_at TEXT, entry TEXT); BEGIN`);
  const insert = database.prepare('INSERT OR IGNORE INTO entries VALUES (?, ?, ?)');
  const select = database.prepare('SELECT entry FROM entries ORDER BY created_at, length(id), id');
  let count = 0;
  return {
    get count() {
      return count;
    },
    add: (entry) => {
      const { id, created_at } = entry;
      count += Number(insert.run(String(id), created_at, JSON.stringify(entry)).changes);
    },
    *inOrder() {
      for (const row of select.iterate()) yield JSON.parse(String(row.entry));
    },
    close: () => database.close(),
  };
};
