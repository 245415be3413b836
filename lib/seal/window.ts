/** The lines of a window that is to be sealed (lib/seal/README.md, Windows). */
import { timeBefore } from './digest.ts';
import {
  hashOf,
  type Item,
  idText,
  isInPlace,
  isTime,
  lineOf,
  markLate,
  replayedBy,
} from './line.ts';
import { openScratch } from './spool.ts';
import type { EntrySource } from './table.ts';

/** The counts of a window's lines, as its digest has them. */
export interface Tally {
  count: number;
  late: number;
  oldest: string | null;
  newest: string | null;
}

export const newTally = (): Tally => ({ count: 0, late: 0, oldest: null, newest: null });

export const tallyLine = (
  tally: Tally,
  { created_at, late }: { created_at: unknown; late: boolean },
) => {
  tally.count += 1;
  if (late) tally.late += 1;
  if (!isTime(created_at)) return;
  if (!tally.oldest || created_at < tally.oldest) tally.oldest = created_at;
  if (!tally.newest || created_at > tally.newest) tally.newest = created_at;
};

/** Collects, on the disk, entries that a run seals out of order unless they are sealed already. */
export const openLateEntries = () => {
  const { change, has, rows, close } = openScratch(`
    CREATE TABLE sealed (id TEXT PRIMARY KEY) WITHOUT ROWID;
    CREATE TABLE late (id TEXT PRIMARY KEY, created_at TEXT, line TEXT) WITHOUT ROWID;
    CREATE TABLE replayed (id INTEGER, hash TEXT, PRIMARY KEY (id, hash)) WITHOUT ROWID`);
  const noteSealed = change('INSERT OR IGNORE INTO sealed VALUES (?)');
  const isSealed = has('sealed WHERE id = ?');
  const insert = change('INSERT OR REPLACE INTO late VALUES (?, ?, ?)');
  // SQLite compares text by its bytes.
  const all = rows('SELECT * FROM late ORDER BY line');
  const sealAll = change('INSERT OR IGNORE INTO sealed SELECT id FROM late');
  const empty = [change('DELETE FROM late'), change('DELETE FROM replayed')];
  const listed = rows('SELECT DISTINCT id FROM replayed WHERE id > ? ORDER BY id LIMIT 100');
  return {
    noteSealed: (id: unknown) => noteSealed(idText(id)),
    /** @returns the length of its line in characters; 0 when the entry is sealed already */
    add: (item: Item): number => {
      const id = idText(item.id);
      if (isSealed(id)) return 0;
      const line = lineOf(item);
      insert(id, isTime(item.created_at) ? item.created_at : null, line);
      return line.length;
    },
    /** Notes that an entry is listed as replayed. @param id @param hash of its line */
    replay: change('INSERT OR IGNORE INTO replayed VALUES (?, ?)'),
    isReplayed: has('replayed WHERE id = ? AND hash = ?'),
    /** Ids of listed entries, in batches. */
    *replayed(): Generator<readonly string[]> {
      for (let after = '-1'; ; ) {
        const found = [...listed(after)].map(({ id }) => String(id));
        const last = found.at(-1);
        if (last === undefined) return;
        yield found;
        after = last;
      }
    },
    *inOrder(): Generator<{ created_at: unknown; line: string }> {
      for (const { created_at, line } of all()) yield { created_at, line: String(line) };
    },
    /** Ends a window: the added entries are sealed with it. */
    next: (): void => {
      sealAll();
      for (const each of empty) each();
    },
    close,
  };
};

export type LateEntries = ReturnType<typeof openLateEntries>;

/** What all windows of one run share. */
export interface Run {
  readonly source: EntrySource;
  /** The most entries of a window; those of one millisecond are never divided. */
  readonly size: number;
  /** The end of the newest window that is over. */
  readonly closed: string;
  readonly late: LateEntries;
  /** Entries of the time that is read again. */
  readonly reread: AsyncIterator<Item>;
  /** Whether all of them were read. */
  isReread: boolean;
}

/** A window that is being closed. */
export interface Closing {
  readonly from: string;
  /** Known when the last line is written. */
  until: string;
  readonly tally: Tally;
}

/** How much more a window may take. */
interface Room {
  entries: number;
  /** Of lines. */
  characters: number;
}

/** Characters of a window's lines at most, so that long entries do not fill the disk. */
const maxCharacters = 64_000_000;

/** Entries that no end of a window may divide. */
interface Group {
  readonly entries: { readonly item: Item; readonly line: string }[];
  /** A time at which a window may end before the group; absent when there is none. */
  readonly cut: string | undefined;
  /** The number of its entries and of those that they list as replayed. */
  weight: number;
  characters: number;
}

const newGroup = (cut?: string): Group => ({ entries: [], cut, weight: 0, characters: 0 });

/** Characters of entries of one millisecond that are held in memory. */
const maxHeld = 8_000_000;

/** A time after one key of the index and not after the next; undefined when there is none. */
const cutBetween = (before: string, key: string): string | undefined => {
  const time = key.slice(0, 24);
  return isTime(time) && before < time ? time : undefined;
};

/** Groups entries of the same time, as far as memory allows. @param size of a group at most */
async function* groupsOf(items: AsyncIterable<Item>, size: number): AsyncGenerator<Group> {
  let group = newGroup();
  let before = '';
  for await (const item of items) {
    const key = String(item.created_at_id);
    const cut = cutBetween(before, key);
    before = key;
    if (cut || group.weight > size || group.characters > maxHeld) {
      yield group;
      group = newGroup(cut);
    }
    const line = lineOf(item);
    group.entries.push({ item, line });
    group.weight += 1 + replayedBy(item).length;
    group.characters += line.length;
  }
  yield group;
}

/** Adds entries that came after their window was closed, while there is room. */
const takeLate = async (run: Run, room: Room): Promise<void> => {
  while (!run.isReread && room.entries > 0 && room.characters > 0) {
    const { done, value } = await run.reread.next();
    if (done) {
      run.isReread = true;
      return;
    }
    const length = run.late.add(value);
    if (length === 0) continue;
    const listed = replayedBy(value);
    for (const { id, sha256 } of listed) run.late.replay(id, sha256);
    room.entries -= 1 + listed.length;
    room.characters -= length;
  }
};

/** Adds entries that replays list, if they are unchanged since. */
const addReplayed = async ({ source, late }: Run, from: string): Promise<void> => {
  for (const ids of late.replayed()) {
    for (const item of await source.byIds(ids)) {
      const isSame = late.isReplayed(idText(item.id), hashOf(item));
      if (isSame && isTime(item.created_at) && item.created_at < from) late.add(item);
    }
  }
};

/** Writes the lines of entries that are in order; others are added to the late ones. */
function* linesOfGroup({ late }: Run, { tally }: Closing, { entries }: Group): Generator<string> {
  for (const { item, line } of entries) {
    for (const { id, sha256 } of replayedBy(item)) late.replay(id, sha256);
    if (isInPlace(item)) {
      tallyLine(tally, { created_at: item.created_at, late: false });
      yield `${line}\n`;
    } else late.add(item);
  }
}

/** Writes the lines of a window that are in order, until the window is full. */
async function* linesInOrder(run: Run, closing: Closing, room: Room): AsyncGenerator<string> {
  const { from, until } = closing;
  for await (const group of groupsOf(run.source.between(from, until), run.size)) {
    const { cut = from, weight, characters } = group;
    const isFull = room.entries < weight || room.characters <= 0;
    if (isFull && cut > from && room.entries < run.size) {
      closing.until = cut;
      return;
    }
    room.entries -= weight;
    room.characters -= characters;
    yield* linesOfGroup(run, closing, group);
  }
}

/** Writes the lines of the next window of a run: those in order, then the late ones. */
export async function* linesOfWindow(run: Run, closing: Closing): AsyncGenerator<string> {
  const { late, closed } = run;
  const { from, tally } = closing;
  const room = { entries: run.size, characters: maxCharacters };
  await takeLate(run, room);
  // A window that late entries fill is as short as possible, and the next one takes the others.
  const shortest = timeBefore(from, -1);
  closing.until = run.isReread || shortest > closed ? closed : shortest;
  yield* linesInOrder(run, closing, room);
  await addReplayed(run, from);
  for (const { created_at, line } of late.inOrder()) {
    tallyLine(tally, { created_at, late: true });
    yield `${markLate(line)}\n`;
  }
  late.next();
}
