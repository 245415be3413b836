/** Reads entries out of the archive, and checks each file while it is read. */
import {
  BrokenTrail,
  linesIn,
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

/** A sealed line, and the beginning of its window. */
export interface ReadLine extends SealedLine {
  readonly window: string;
}

const isNotThere = ({ kind, subject }: Finding): BrokenTrail =>
  kind === 'missing'
    ? new BrokenTrail(`The window of ${subject} is missing`)
    : notAsSealed(subject);

/** Reads the window of the first wanted entry and all after it, which may have late entries. */
async function* followWindows(reading: Reading): AsyncGenerator<StoredWindow> {
  const { since = beginning, until = endOfTime, progress } = reading;
  const all = (await listWindows(reading.archive)).digests;
  const first = all.findLastIndex((name) => timeInName(name) <= since);
  const digests = all.slice(Math.max(0, first));
  const isWanted = ({ from, entries }: SignedDigest) => from < until || entries.late > 0;
  const chain = new Chain(reading, first < 0 ? since : undefined);
  for await (const window of readWindows(reading, digests, isWanted)) {
    for (const finding of chain.step(window)) throw isNotThere(finding);
    yield window;
    progress?.(chain.windows / digests.length);
  }
  chain.end();
  for (const finding of chain.findGaps()) throw isNotThere(finding);
}

/**
 * Reads sealed entries, and others of the same windows, window by window; late entries come last in
 * their window, and an entry can come twice.
 * @throws {BrokenTrail} after all that can be read, when a window is missing or not as its sealer left
 *   it; errors of the archive
 */
export async function* readTrail(reading: Reading): AsyncGenerator<ReadLine> {
  for await (const stored of followWindows(reading)) {
    const window = timeInName(stored.name);
    for await (const line of linesIn(stored)) yield { ...line, window };
  }
}
