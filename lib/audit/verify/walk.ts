/** The chain of digests, followed from window to window. */
import { type ArchivedFile, readEntriesFile, readFile } from '../archive/archive.ts';
import { digestName, readDigest, type SignedDigest, timeInName } from '../archive/digest.ts';
import type { Spool } from '../archive/spool.ts';
import { endOfTime, type Listing } from './listing.ts';
import type { Finding, Verification } from './verification.ts';

export interface Window {
  readonly file: ArchivedFile;
  /** Or what is wrong with it. */
  readonly digest: SignedDigest | 'unreadable' | 'wrongly signed' | 'moved';
  /** The file of its entries; absent when it is not the one that was sealed. */
  readonly content?: Spool | undefined;
}

const readWindow = async (
  { archive, publicKey }: Verification,
  { files }: Listing,
  file: ArchivedFile,
): Promise<Window> => {
  const bytes = await readFile(archive, file);
  const digest = bytes ? readDigest(bytes, publicKey) : 'unreadable';
  if (typeof digest === 'string') return { file, digest };
  if (digestName(digest.from) !== file.name) return { file, digest: 'moved' };
  return { file, digest, content: await readEntriesFile(archive, digest, files) };
};

/** Windows that are read at a time: each is two waits for a store that is far away. */
const readAhead = 32;

export async function* readWindows(
  verification: Verification,
  listing: Listing,
): AsyncGenerator<Window> {
  const { digests } = listing;
  for (let at = 0; at < digests.length; at += readAhead) {
    const some = digests.slice(at, at + readAhead);
    const windows = await Promise.all(some.map((file) => readWindow(verification, listing, file)));
    try {
      yield* windows;
    } finally {
      for (const { content } of windows) await content?.close();
    }
  }
}

/** A time of which the archive does not say what was sealed. */
interface Gap {
  readonly from: string;
  until: string;
  readonly mayHoldLate: boolean;
}

/** How far windows have been followed. */
export interface Walk {
  newest: SignedDigest | undefined;
  readonly gaps: Gap[];
  /** The gap of digests that cannot be read, until the next that can. */
  open: Gap | undefined;
  windows: number;
  entries: number;
  /** Entries that have left the table because their time was over. */
  expired: number;
}

export const newWalk = (): Walk => ({
  ...{ newest: undefined, gaps: [], open: undefined },
  ...{ windows: 0, entries: 0, expired: 0 },
});

/** Notes that the entries of a window cannot be read. */
export const skipEntries = (walk: Walk, { from, until, entries }: SignedDigest): Finding => {
  walk.gaps.push({ from, until, mayHoldLate: entries.late > 0 });
  return { kind: 'unreadable', subject: entries.file };
};

/** Compares a digest with the one before. */
function* follow(walk: Walk, digest: SignedDigest, expected: string): Generator<Finding> {
  const { newest, open } = walk;
  const end = open?.from ?? digest.from;
  if (end > expected) {
    walk.gaps.push({ from: expected, until: end, mayHoldLate: true });
    yield { kind: 'missing', subject: expected, before: `until ${end}` };
  }
  const follows = digest.from === expected && digest.previous?.sha256 === newest?.sha256;
  if (digest.from < expected || (digest.from === expected && !follows)) {
    yield { kind: 'forked', subject: digestName(digest.from) };
  }
}

/**
 * Takes one step along the chain.
 * @param start when its first window must begin; absent: any time
 */
export function* step(
  walk: Walk,
  { file, digest, content }: Window,
  start?: string,
): Generator<Finding> {
  walk.windows += 1;
  if (typeof digest === 'string') {
    yield { kind: digest, subject: file.name };
    if (walk.open) return;
    walk.open = { from: timeInName(file.name), until: endOfTime, mayHoldLate: true };
    walk.gaps.push(walk.open);
    return;
  }
  const expected = walk.newest?.until ?? start;
  if (expected !== undefined) yield* follow(walk, digest, expected);
  if (walk.open) walk.open.until = digest.from;
  walk.open = undefined;
  walk.newest = digest;
  walk.entries += digest.entries.count;
  if (!content) yield skipEntries(walk, digest);
}
