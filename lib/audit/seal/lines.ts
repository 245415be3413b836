/** The lines of a window. */
import {
  hashOf,
  type Item,
  lineOf,
  markLate,
  type ReplayedEntry,
  replayedBy,
} from '../archive/line.ts';
import { type LateEntries, openLateEntries } from './late.ts';
import { noteSealed, recheckBefore } from './recheck.ts';
import type { Sealing } from './sealing.ts';
import type { Window } from './start.ts';

export interface Tally {
  count: number;
  late: number;
  oldest: string | null;
  newest: string | null;
}

const count = (tally: Tally, createdAt: string): void => {
  tally.count += 1;
  if (!tally.oldest || createdAt < tally.oldest) tally.oldest = createdAt;
  if (!tally.newest || createdAt > tally.newest) tally.newest = createdAt;
};

/** What a window finds out about entries that are not of its time. */
interface Beside {
  readonly late: LateEntries;
  /** What entries of the window list as replayed. */
  readonly replayed: ReplayedEntry[];
}

/** Whether the time of an entry is as its index key says, for which it was read. */
const isOnTime = ({ created_at }: Item, { from, until }: Window): boolean =>
  typeof created_at === 'string' && created_at >= from && created_at < until;

/** The lines of a window's entries by time, but for those whose own time is another one. */
async function* linesOnTime(
  { source }: Sealing,
  window: Window,
  { late, replayed }: Beside,
  tally: Tally,
): AsyncGenerator<string> {
  for await (const item of source.between(window.from, window.until)) {
    replayed.push(...replayedBy(item));
    if (isOnTime(item, window)) {
      count(tally, String(item.created_at));
      yield `${lineOf(item)}\n`;
    } else late.add(item);
  }
}

/** Entries of a replay, as they were when it wrote them. */
const readReplayed = async (
  { source }: Sealing,
  replayed: readonly ReplayedEntry[],
): Promise<readonly Item[]> => {
  const hashes = new Map(replayed.map(({ id, sha256 }) => [id, sha256]));
  const items = await source.byIds([...hashes.keys()]);
  return items.filter((item) => hashes.get(Number(item.id)) === hashOf(item));
};

/** Adds what came after its window was closed. */
const addLate = async (
  sealing: Sealing,
  { since, from }: { since: string; from: string },
  { late, replayed }: Beside,
): Promise<void> => {
  for await (const item of sealing.source.between(since, from)) late.add(item);
  for (const item of await readReplayed(sealing, replayed)) {
    if (String(item.created_at) < from) late.add(item);
  }
};

/** The lines of a window: its entries by time, then by time those of other times. */
export async function* linesOfWindow(
  sealing: Sealing,
  window: Window,
  tally: Tally,
): AsyncGenerator<string> {
  const { from, newest } = window;
  const recheck = await recheckBefore(sealing, window);
  const { since } = recheck;
  const beside: Beside = { late: openLateEntries(), replayed: [] };
  try {
    await noteSealed(sealing, window, recheck, beside.late);
    yield* linesOnTime(sealing, window, beside, tally);
    // Before the first window there is nothing.
    if (newest) await addLate(sealing, { since, from }, beside);
    for (const { created_at, line } of beside.late.inOrder()) {
      tally.late += 1;
      count(tally, created_at);
      yield `${markLate(line)}\n`;
    }
  } finally {
    beside.late.close();
  }
}
