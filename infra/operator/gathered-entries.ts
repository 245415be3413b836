import type { ExportedEntry } from '../../lib/audit/formats.ts';
import { openScratch } from '../../lib/seal/door.ts';

/** Entries that are to be exported, on the disk, so that any number of them takes the same memory. */
export const gatherEntries = () => {
  const { change, rows, close } = openScratch(
    'CREATE TABLE entries (id TEXT PRIMARY KEY, created_at TEXT, entry TEXT)',
  );
  const insert = change('INSERT OR IGNORE INTO entries VALUES (?, ?, ?)');
  const select = rows('SELECT entry FROM entries ORDER BY created_at, length(id), id');
  let count = 0;
  return {
    get count() {
      return count;
    },
    /** Adds an entry, unless an entry with its id was added before. */
    add: (entry: ExportedEntry): void => {
      const { id, created_at } = entry;
      if (insert(String(id), created_at, JSON.stringify(entry))) count += 1;
    },
    /** Oldest first. */
    *inOrder(): Generator<ExportedEntry> {
      for (const { entry } of select()) yield JSON.parse(String(entry));
    },
    /** Deletes them. */
    close,
  };
};
