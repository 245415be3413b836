/** Compares the archive with itself, and with the table (lib/audit/README.md, Verification). */
import { isOfContent, linesOf } from '../archive/archive.ts';
import { beginning, type SignedDigest, timeInName } from '../archive/digest.ts';
import { idText, type SealedLine } from '../archive/line.ts';
import type { Spool } from '../archive/spool.ts';
import { type Compared, compareLine, meetLater, takeSnapshot } from './compare.ts';
import { judgeUnmet } from './judge.ts';
import { endOfTime, type Listing, listRange, startOf } from './listing.ts';
import { openSnapshot, type Snapshot } from './snapshot.ts';
import type { Finding, Verification, Verified } from './verification.ts';
import { newWalk, readWindows, skipEntries, step, type Walk } from './walk.ts';

/** What follows from a line and the window in which it was sealed. */
function* checkLine(
  snapshot: Snapshot,
  { from, until }: SignedDigest,
  { id, created_at, late }: SealedLine,
): Generator<Finding> {
  const subject = idText(id);
  if (late) {
    if (snapshot.noteLate(id)) yield { kind: 'late', subject };
    return;
  }
  const time = String(created_at);
  if (time >= from && time < until) return;
  yield { kind: 'misplaced', subject, before: `${time} is not from ${from} until ${until}` };
}

/** What is known while windows are walked. */
interface Walking {
  readonly walk: Walk;
  readonly snapshot: Snapshot;
  /** Absent: there is no table to compare with. */
  readonly compared?: Compared;
}

/** Checks the entries of a window, and compares them with the table, if there is one. */
async function* walkLines(
  { walk, snapshot, compared }: Walking,
  digest: SignedDigest,
  content: Spool,
): AsyncGenerator<Finding> {
  let count = 0;
  try {
    for await (const line of linesOf(content)) {
      count += 1;
      yield* checkLine(snapshot, digest, line);
      if (compared) yield* compareLine(compared, line, walk);
    }
  } catch (error) {
    if (!isOfContent(error)) throw error;
    count = Number.NaN;
  }
  if (count !== digest.entries.count) yield skipEntries(walk, digest);
}

/** Follows the windows of a list, with their entries. */
async function* walkWindows(
  verification: Verification,
  listing: Listing,
  walking: Walking,
): AsyncGenerator<Finding> {
  const { progress } = verification;
  const { walk } = walking;
  const { next } = listing;
  const start = startOf(verification, listing);
  for await (const window of readWindows(verification, listing)) {
    yield* step(walk, window, start);
    progress?.(walk.windows / listing.digests.length, walk.entries);
    const { digest, content } = window;
    if (content && typeof digest === 'object') yield* walkLines(walking, digest, content);
  }
  const end = walk.newest?.until ?? start;
  if (next && end && !walk.open && end < next) {
    walk.gaps.push({ from: end, until: next, mayHoldLate: true });
    yield { kind: 'missing', subject: end, before: `until ${next}` };
  }
}

/**
 * From which time on entries are compared: what is older is of a window before, or of none.
 * @returns undefined when no window begins in the time, so that there is nothing to compare
 */
const comparedFrom = (verification: Verification, listing: Listing): string | undefined => {
  if (startOf(verification, listing) === beginning) return beginning;
  const [first] = listing.digests;
  return first && timeInName(first.name);
};

/** Walks a list with the table beside it. */
async function* compareWindows(
  verification: Verification,
  listing: Listing,
  { source, snapshot, from }: Pick<Compared, 'source' | 'snapshot' | 'from'>,
): AsyncGenerator<Finding, Verified> {
  const walk = newWalk();
  const until = listing.next ?? endOfTime;
  const compared = { source, snapshot, from, until, now: verification.now };
  const older = yield* takeSnapshot(verification, compared);
  snapshot.sort();
  yield* walkWindows(verification, listing, { walk, snapshot, compared });
  const { newest, windows, entries, expired } = walk;
  await meetLater(verification, walk, compared);
  const unsealed = yield* judgeUnmet(compared, walk);
  // Of a part, those that are older are in the windows before it.
  const unproven = verification.since === undefined ? older : 0;
  return { windows, entries, expired, unsealed, unproven, newest };
}

/**
 * Verifies windows: the archive by itself, and entries of the table by the archive. Memory holds the
 * list of windows and the compressed entries of a few.
 * @returns what was verified; findings are yielded, an entry's under its id
 * @throws whatever archive and table throw
 */
export async function* verifyTrail(verification: Verification): AsyncGenerator<Finding, Verified> {
  const { archive, source } = verification;
  const listing = await listRange(archive, verification);
  for (const subject of listing.altered) yield { kind: 'altered', subject };
  for (const subject of listing.misnamed) yield { kind: 'unreadable', subject };
  const from = comparedFrom(verification, listing);
  const snapshot = openSnapshot();
  try {
    if (source && from !== undefined) {
      return yield* compareWindows(verification, listing, { source, snapshot, from });
    }
    const walk = newWalk();
    yield* walkWindows(verification, listing, { walk, snapshot });
    return { ...walk, unsealed: 0, unproven: 0 };
  } finally {
    snapshot.close();
  }
}
