/** Notes of a verification about what is out of order. They are kept on the disk, as they may be many. */
import { hashOf, hashOfLine, type Item, idText, type SealedLine, timeTextOf } from './line.ts';
import { openScratch } from './spool.ts';

/** The part of an entry of the table that is kept for the comparison. */
export interface Seen {
  readonly id: string;
  readonly created_at: string;
  /** SHA-256 of its line. */
  readonly hash: string;
}

export const seenIn = (item: Item): Seen => ({
  id: idText(item.id),
  created_at: timeTextOf(item),
  hash: hashOf(item),
});

const tables = `
  CREATE TABLE unmatched (id TEXT PRIMARY KEY, created_at TEXT, hash TEXT) WITHOUT ROWID;
  CREATE TABLE late (id TEXT, hash TEXT, time TEXT, window TEXT, PRIMARY KEY (id, hash)) WITHOUT ROWID;
  CREATE INDEX late_times ON late (time);
  CREATE TABLE reported (id TEXT PRIMARY KEY) WITHOUT ROWID;
  CREATE TABLE replayed (id TEXT, hash TEXT, PRIMARY KEY (id, hash)) WITHOUT ROWID`;

/** Opens empty notes, which the caller closes. */
export const openNotes = () => {
  const { change, has, rows, close } = openScratch(tables);
  const isUnmatched = has('unmatched WHERE id = ?');
  const hasUnmatched = has('unmatched');
  const match = change('DELETE FROM unmatched WHERE id = ? AND hash = ?');
  const unmatched = rows(`SELECT * FROM unmatched WHERE id NOT IN (SELECT id FROM reported)
    ORDER BY created_at, length(id), id`);
  const addLate = change('INSERT OR IGNORE INTO late VALUES (?, ?, ?, ?)');
  const isLate = has('late WHERE id = ?');
  const lateWindow = rows('SELECT window FROM late WHERE id = ? AND hash = ?');
  const report = change('INSERT OR IGNORE INTO reported VALUES (?)');
  const isReported = has('reported WHERE id = ?');
  return {
    /** Notes an entry of the table that no window has had so far: its id, `created_at` and hash. */
    addUnmatched: change('INSERT OR REPLACE INTO unmatched VALUES (?, ?, ?)'),
    isUnmatched: (id: unknown) => isUnmatched(idText(id)),
    hasUnmatched,
    /** Notes that a window has an entry. @returns whether it was unmatched */
    match: ({ id, line }: SealedLine) => hasUnmatched() && match(idText(id), hashOfLine(line)),
    /** Unmatched entries that were not reported, oldest first. */
    *unmatched(): Generator<Seen> {
      for (const { id, created_at, hash } of unmatched()) {
        yield { id: String(id), created_at: String(created_at), hash: String(hash) };
      }
    },
    /** Notes that a window sealed an entry late. @returns whether that is the first time */
    noteLate: ({ id, created_at, line }: SealedLine, window: string): boolean => {
      const isNew = !isLate(idText(id));
      addLate(idText(id), hashOfLine(line), idText(created_at), window);
      return isNew;
    },
    isLate: (id: unknown) => isLate(idText(id)),
    /** Whether the created_at of a late entry is from one time on and before another. */
    hasLateBetween: has('late WHERE time >= ? AND time < ?'),
    /** The first window that sealed a line late. */
    lateWindow: (id: unknown, line: string): string | undefined => {
      const [row] = lateWindow(idText(id), hashOfLine(line));
      return row && String(row.window);
    },
    /** Notes that an entry is reported. @returns whether that is the first time */
    report: (id: unknown) => report(idText(id)),
    isReported: (id: unknown) => isReported(idText(id)),
    /** Notes that an entry is listed as replayed, with the hash of its line. */
    replay: change('INSERT OR IGNORE INTO replayed VALUES (?, ?)'),
    isReplayed: has('replayed WHERE id = ? AND hash = ?'),
    close,
  };
};

export type Notes = ReturnType<typeof openNotes>;
