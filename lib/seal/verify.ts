/** Verifies an archive by itself and with the table (lib/seal/README.md, Verification). */
import {
  type Listing,
  linesIn,
  linesOf,
  listWindows,
  readWindows,
  type StoredWindow,
} from './archive.ts';
import { Chain } from './chain.ts';
import { Comparison } from './comparison.ts';
import { beginning, digestName, endOfTime, type SignedDigest, timeInName } from './digest.ts';
import { idText, orderOf, type SealedLine } from './line.ts';
import { type Notes, openNotes } from './notes.ts';
import type { Spool } from './spool.ts';
import type { Finding, Verification, Verified } from './verification.ts';
import { newTally, type Tally, tallyLine } from './window.ts';

/** Checks that the lines of a window are in order, each once. */
const orderCheck = () => {
  let key = '';
  let late: Buffer | undefined;
  let lateId: string | undefined;
  /** @returns the key of a line that is in order and not late */
  return (line: SealedLine): { readonly key?: string; readonly isInOrder: boolean } => {
    if (line.late) {
      const bytes = Buffer.from(line.line);
      const isInOrder = (!late || Buffer.compare(late, bytes) < 0) && idText(line.id) !== lateId;
      [late, lateId] = [bytes, idText(line.id)];
      return { isInOrder };
    }
    const next = orderOf(line);
    if (next === undefined || next <= key || late) return { isInOrder: false };
    key = next;
    return { key, isInOrder: true };
  };
};

const within = ({ created_at }: SealedLine, { from, until }: SignedDigest): boolean => {
  const time = String(created_at);
  return time >= from && time < until;
};

/** The state of a verification. */
interface State {
  readonly chain: Chain;
  readonly notes: Notes;
  readonly comparison: Comparison;
}

/** The outcome of reading the lines of a window. */
interface Checked {
  readonly tally: Tally;
  /** How many entries of its lines were sealed late before. */
  again: number;
  isOrdered: boolean;
}

async function* checkLate(
  { notes, comparison }: State,
  line: SealedLine,
  window: string,
  checked: Checked,
): AsyncGenerator<Finding> {
  if (notes.noteLate(line, window)) yield { kind: 'late', subject: idText(line.id) };
  else checked.again += 1;
  if (!notes.match(line)) yield* comparison.lookUp(line, window);
}

/** Checks a line that is not late. @param key absent when the line is not in order */
async function* checkLine(
  { comparison }: State,
  line: SealedLine,
  digest: SignedDigest,
  key: string | undefined,
): AsyncGenerator<Finding> {
  const { from, until } = digest;
  if (key !== undefined && within(line, digest)) {
    yield* comparison.compare(line, key, from);
    return;
  }
  if (!within(line, digest)) {
    const before = `${String(line.created_at)} is not from ${from} until ${until}`;
    yield { kind: 'misplaced', subject: idText(line.id), before };
  }
  yield* comparison.lookUp(line, from);
}

/** Checks the lines of a window, and compares them with the table. */
async function* checkLines(
  state: State,
  digest: SignedDigest,
  content: Spool,
): AsyncGenerator<Finding, Checked> {
  const checked: Checked = { tally: newTally(), again: 0, isOrdered: true };
  const check = orderCheck();
  for await (const line of linesOf(content)) {
    tallyLine(checked.tally, line);
    const { key, isInOrder } = check(line);
    checked.isOrdered &&= isInOrder;
    // Late lines come last: the rest of the table's entries of this window has no line.
    if (line.late) yield* state.comparison.finishWindow(digest.until);
    if (line.late) yield* checkLate(state, line, digest.from, checked);
    else yield* checkLine(state, line, digest, key);
  }
  return checked;
}

/** Reports what a digest says that is not true of its lines. */
function* contradictions(digest: SignedDigest, { tally, isOrdered }: Checked): Generator<Finding> {
  const { entries, from } = digest;
  for (const name of ['count', 'late', 'oldest', 'newest'] as const) {
    if (entries[name] === tally[name]) continue;
    const before = `${name} is ${tally[name]}, not ${entries[name]}`;
    yield { kind: 'wrong', subject: digestName(from), before };
  }
  if (isOrdered) return;
  const before = 'lines are not in order, or one is there twice';
  yield { kind: 'wrong', subject: entries.file, before };
}

/**
 * Checks a window, and compares it with the table.
 * @returns how many entries it has, but for those that were sealed late before
 */
async function* checkWindow(
  state: State,
  { digest, content }: StoredWindow,
): AsyncGenerator<Finding, number> {
  const { comparison } = state;
  if (typeof digest === 'string') return 0;
  await comparison.skipTo(digest.from);
  if (typeof content !== 'object') return digest.entries.count;
  const checked = yield* checkLines(state, digest, content);
  yield* contradictions(digest, checked);
  yield* comparison.finishWindow(digest.until);
  yield* comparison.flush();
  return checked.tally.count - checked.again;
}

/**
 * Follows the chain after a part that was verified, if that can tell more about the part: late entries
 * of it, and windows that may have left.
 * @returns whether the chain was followed to its end
 */
const readOn = async (
  verification: Verification,
  { chain, notes }: State,
  next: string | undefined,
): Promise<boolean> => {
  if (next !== undefined && !chain.isUnclear(next) && !notes.hasUnmatched()) return false;
  const digests = next ? (await listWindows(verification.archive, next)).digests : [];
  const isWanted = ({ entries }: SignedDigest) => entries.late > 0;
  for await (const window of readWindows(verification, digests, isWanted)) {
    for (const _ of chain.step(window));
    for await (const line of linesIn(window)) notes.match(line);
  }
  chain.end();
  return true;
};

/** Counts entries that were sealed late in one window and in order in another. */
const countTwice = async (
  verification: Verification,
  { notes }: State,
  { digests }: Listing,
): Promise<number> => {
  const begins = digests.map(timeInName);
  const withLate = digests.filter((_, i) =>
    notes.hasLateBetween(begins[i] ?? '', begins[i + 1] ?? endOfTime),
  );
  let twice = 0;
  for await (const window of readWindows(verification, withLate)) {
    for await (const { id, late } of linesIn(window)) {
      if (!late && notes.isLate(id)) twice += 1;
    }
  }
  return twice;
};

/** Verifies listed windows. @returns how many entries they have, and the first window after them */
async function* follow(
  verification: Verification,
  state: State,
  { digests, next }: Listing,
): AsyncGenerator<Finding, { readonly entries: number; readonly next: string | undefined }> {
  const { progress, isOver } = verification;
  const { chain } = state;
  let entries = 0;
  for await (const window of readWindows(verification, digests)) {
    yield* chain.step(window);
    entries += yield* checkWindow(state, window);
    progress?.(chain.windows / digests.length, entries);
    const after = digests[chain.windows];
    if (after !== undefined && isOver?.()) return { entries, next: timeInName(after) };
  }
  return { entries, next };
}

async function* findingsOf(verification: Verification): AsyncGenerator<Finding, Verified> {
  const { scan, since = beginning, until } = verification;
  const listing = await listWindows(verification.archive, since, until);
  for (const subject of listing.misnamed) yield { kind: 'unreadable', subject };
  const chain = new Chain(verification, since, listing.altered);
  const notes = openNotes();
  // The last window may end after the time until which windows begin.
  const compared = { ...verification, until: listing.next ?? endOfTime };
  const comparison = new Comparison(compared, notes, chain);
  const state = { chain, notes, comparison };
  try {
    if (scan) yield* comparison.scan();
    const { entries, next } = yield* follow(verification, state, listing);
    const { newest, windows } = chain;
    const isFollowed = await readOn(verification, state, next);
    yield* chain.findAltered(listing.altered);
    yield* chain.findGaps(next);
    if (isFollowed) await comparison.noteAwaited();
    yield* comparison.finish(next);
    const twice = await countTwice(verification, state, listing);
    const { left } = chain;
    return { windows, entries: entries - twice, newest, left, ...comparison.counts };
  } finally {
    notes.close();
  }
}

/**
 * Verifies windows. Memory and disk hold the list of windows, one window, and what is out of order.
 * @param tell receives the findings one after another
 * @returns what was verified
 * @throws errors of archive, table and `tell`
 */
export const verifyTrail = async (
  verification: Verification,
  tell: (finding: Finding) => unknown,
): Promise<Verified> => {
  const findings = findingsOf(verification);
  let step = await findings.next();
  for (; !step.done; step = await findings.next()) await tell(step.value);
  return step.value;
};
