/** Reads entries out of the archive, each file checked as it is read. */
import {
  BrokenTrail,
  linesOf,
  listWindows,
  notAsSealed,
  readWindows,
  type SignedArchive,
  type StoredWindow,
} from './archive.ts';
import { Chain } from './chain.ts';
import { beginning, endOfTime, type SignedDigest, timeInName } from './digest.ts';
import type { SealedLine } from './line.ts';
import type { Finding } from './verification.ts';

export interface Reading extends SignedArchive {
  /** created_at of the entries that are wanted: inclusive; absent: from the beginning. */
  readonly since?: string;
  /** Exclusive; absent: to the end. */
  readonly until?: string;
  /** Milliseconds since 1970; absent: the clock. */
  readonly now?: number;
  /** @param fraction of the windows that are read */
  readonly progress?: (fraction: number) => void;
}

/** A sealed line, and when the window begins that has it. */
export interface ReadLine extends SealedLine {
  readonly window: string;
}

const isNotThere = ({ kind, subject }: Finding): BrokenTrail =>
  kind === 'missing'
    ? new BrokenTrail(`The window of ${subject} is missing`)
    : notAsSealed(subject);

/** The windows from the one on that has the first wanted entry: each may have late ones. */
async function* followWindows(reading: Reading): AsyncGenerator<StoredWindow> {
  const { since = beginning, until = endOfTime, progress } = reading;
  const all = (await listWindows(reading.archive)).digests;
  const first = all.findLastIndex((name) => timeInName(name) <= since);
  const digests = all.slice(Math.max(0, first));
  const isWanted = ({ from, entries }: SignedDigest) => from < until || entries.late > 0;
  const chain = new Chain(reading, first < 0 ? since : undefined);
  for await (const window of readWindows(reading, digests, isWanted)) {
    for (const finding of chain.step(window)) throw isNotThere(finding);
    chain.expectEntries(window, isWanted);
    yield window;
    progress?.(chain.windows / digests.length);
  }
  chain.end();
  for (const finding of chain.findGaps()) throw isNotThere(finding);
}

/**
 * Sealed entries, with others of the windows that have them: the first windows' first, late ones
 * after the others of their window, and perhaps twice.
 * @throws {BrokenTrail} after what can be read, when a window is missing, or not as its sealer left
 *   it; what the archive throws
 */
export async function* readTrail(reading: Reading): AsyncGenerator<ReadLine> {
  for await (const { name, content } of followWindows(reading)) {
    const window = timeInName(name);
    for await (const line of content ? linesOf(content) : []) yield { ...line, window };
  }
}
