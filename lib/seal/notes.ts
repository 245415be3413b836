/** What is out of order while an archive is verified: on the disk, as it may be much. */
import { hashOf, type Item, idText, type SealedLine, sha256 } from './line.ts';
import { openScratch } from './spool.ts';

/** An entry of the table, as far as it is kept to be compared. */
export interface Seen {
  readonly id: string;
  readonly created_at: string;
  /** SHA-256 of its line. */
  readonly hash: string;
}

export const seenIn = (item: Item): Seen => ({
  id: idText(item.id),
  created_at: idText(item.created_at ?? ''),
  hash: hashOf(item),
});

const hashOfLine = (line: string): string => sha256(line).toString('hex');

const tables = `
  CREATE TABLE unmet (id TEXT PRIMARY KEY, created_at TEXT, hash TEXT) WITHOUT ROWID;
  CREATE TABLE late (id TEXT, hash TEXT, time TEXT, window TEXT, PRIMARY KEY (id, hash)) WITHOUT ROWID;
  CREATE INDEX late_times ON late (time);
  CREATE TABLE told (id TEXT PRIMARY KEY) WITHOUT ROWID;
  CREATE TABLE replayed (id TEXT PRIMARY KEY, hash TEXT) WITHOUT ROWID`;

/** Opens empty notes, to be closed. */
export const openNotes = () => {
  const { change, has, rows, close } = openScratch(tables);
  const isUnmet = has('unmet WHERE id = ?');
  const hasUnmet = has('unmet');
  const meet = change('DELETE FROM unmet WHERE id = ? AND hash = ?');
  const unmet = rows(`SELECT * FROM unmet WHERE id NOT IN (SELECT id FROM told)
    ORDER BY created_at, length(id), id`);
  const addLate = change('INSERT OR IGNORE INTO late VALUES (?, ?, ?, ?)');
  const isLate = has('late WHERE id = ?');
  const lateWindow = rows('SELECT window FROM late WHERE id = ? AND hash = ?');
  const tell = change('INSERT OR IGNORE INTO told VALUES (?)');
  const isTold = has('told WHERE id = ?');
  return {
    /** Notes that no window has an entry of the table so far: its id, created_at and hash. */
    addUnmet: change('INSERT OR REPLACE INTO unmet VALUES (?, ?, ?)'),
    isUnmet: (id: unknown) => isUnmet(idText(id)),
    hasUnmet,
    /** Notes that a window has an entry. @returns whether it was not met before */
    meet: ({ id, line }: SealedLine) => hasUnmet() && meet(idText(id), hashOfLine(line)),
    /** Oldest first, but for those that were told of. */
    *unmet(): Generator<Seen> {
      for (const { id, created_at, hash } of unmet()) {
        yield { id: String(id), created_at: String(created_at), hash: String(hash) };
      }
    },
    /** @returns whether the entry is late for the first time */
    noteLate: ({ id, created_at, line }: SealedLine, window: string): boolean => {
      const isNew = !isLate(idText(id));
      addLate(idText(id), hashOfLine(line), idText(created_at), window);
      return isNew;
    },
    isLate: (id: unknown) => isLate(idText(id)),
    /** Whether a late entry bears a time from one on until another. */
    hasLateBetween: has('late WHERE time >= ? AND time < ?'),
    /** The first window that sealed a line late. */
    lateWindow: (id: unknown, line: string): string | undefined => {
      const [row] = lateWindow(idText(id), hashOfLine(line));
      return row && String(row.window);
    },
    /** Notes that an entry is told of. @returns whether it was not before */
    tell: (id: unknown) => tell(idText(id)),
    isTold: (id: unknown) => isTold(idText(id)),
    /** Notes that an entry is listed as replayed, with the hash of its line. */
    replay: change('INSERT OR REPLACE INTO replayed VALUES (?, ?)'),
    isReplayed: has('replayed WHERE id = ? AND hash = ?'),
    close,
  };
};

export type Notes = ReturnType<typeof openNotes>;
