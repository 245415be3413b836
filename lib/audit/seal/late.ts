import { type Item, idText, lineOf } from '../archive/line.ts';
import { openScratch } from '../archive/scratch.ts';

/** An entry that a window seals though its time is not of the window. */
interface LateEntry {
  readonly created_at: string;
  readonly line: string;
}

/** Entries that a window seals beside those of its time, unless they are sealed already. */
export interface LateEntries {
  /** Notes that an entry is sealed. All must be noted before any is added. */
  noteSealed(id: unknown): void;
  add(item: Item): void;
  /** By time, then by id. */
  inOrder(): Iterable<LateEntry>;
  /** Takes them away. */
  close(): void;
}

/** Late entries on the disk, so that any number of them takes the same memory. */
export const openLateEntries = (): LateEntries => {
  const database = openScratch(`CREATE TABLE sealed (id TEXT PRIMARY KEY) WITHOUT ROWID;
    CREATE TABLE late (id TEXT PRIMARY KEY, created_at TEXT, line TEXT) WITHOUT ROWID`);
  const note = database.prepare('INSERT OR IGNORE INTO sealed VALUES (?)');
  const find = database.prepare('SELECT 1 FROM sealed WHERE id = ?');
  const insert = database.prepare('INSERT OR REPLACE INTO late VALUES (?, ?, ?)');
  const all = database.prepare('SELECT * FROM late ORDER BY created_at, CAST(id AS INTEGER)');
  return {
    noteSealed: (id) => {
      note.run(idText(id));
    },
    add: (item) => {
      const id = idText(item.id);
      if (!find.get(id)) insert.run(id, String(item.created_at), lineOf(item));
    },
    *inOrder() {
      for (const { created_at, line } of all.iterate()) {
        yield { created_at: String(created_at), line: String(line) };
      }
    },
    close: () => database.close(),
  };
};
