/** Reads entries out of the archive, each file checked as it is read. */
import type { KeyObject } from 'node:crypto';
import {
  type Archive,
  type ArchivedFile,
  BrokenTrail,
  findDigest,
  linesOf,
  notAsSealed,
  readEntriesFile,
} from './archive.ts';
import { beginning, isDigestName, type SignedDigest, timeInName } from './digest.ts';
import type { SealedLine } from './line.ts';
import type { Spool } from './spool.ts';

export interface Reading {
  readonly archive: Archive;
  readonly publicKey: KeyObject;
  /** created_at of the entries that are wanted: inclusive; absent: from the beginning. */
  readonly since?: string;
  /** Exclusive; absent: to the end. */
  readonly until?: string;
  /** Windows that end before then may have left the archive, and are not read; absent: none may. */
  readonly keptSince?: string | undefined;
  /** @param fraction of the windows that are read */
  readonly progress?: (fraction: number) => void;
}

interface Listing {
  readonly digests: readonly ArchivedFile[];
  readonly altered: ReadonlyMap<string, ArchivedFile>;
}

/** The windows from the one that has the first wanted entry to the newest: each may have late ones. */
const listFrom = async ({
  archive,
  since = beginning,
  keptSince = beginning,
}: Reading): Promise<Listing> => {
  const digests: ArchivedFile[] = [];
  const altered = new Map<string, ArchivedFile>();
  for await (const file of archive.list('')) {
    if (isDigestName(file.name)) digests.push(file);
    else if (file.altered) altered.set(file.name, file);
  }
  const from = since > keptSince ? since : keptSince;
  const first = digests.findLastIndex(({ name }) => timeInName(name) <= from);
  if (first < 0 && digests.length > 0) throw new BrokenTrail(`The window of ${from} is missing`);
  return { digests: digests.slice(Math.max(0, first)), altered };
};

interface Window {
  readonly digest: SignedDigest;
  /** Absent when no entry in it can be wanted. */
  readonly content: Spool | undefined;
}

const readWindow = async (
  { archive, publicKey, until }: Reading,
  { altered }: Listing,
  file: ArchivedFile,
): Promise<Window> => {
  const digest = await findDigest(archive, file, publicKey);
  if (!digest) throw notAsSealed(file.name);
  const isWanted = until === undefined || digest.from < until || digest.entries.late > 0;
  if (!isWanted) return { digest, content: undefined };
  const content = await readEntriesFile(archive, digest, altered);
  if (!content) throw notAsSealed(digest.entries.file);
  return { digest, content };
};

/** Windows that are read at a time: each is two waits for a store that is far away. */
const readAhead = 32;

/** All windows of a list, each following the one before. */
async function* readWindows(reading: Reading, listing: Listing): AsyncGenerator<Window> {
  const { digests } = listing;
  let before: SignedDigest | undefined;
  for (let at = 0; at < digests.length; at += readAhead) {
    const files = digests.slice(at, at + readAhead);
    const windows = await Promise.all(files.map((file) => readWindow(reading, listing, file)));
    try {
      for (const window of windows) {
        if (before && window.digest.previous?.sha256 !== before.sha256) {
          throw new BrokenTrail(`The window of ${before.until} is missing`);
        }
        before = window.digest;
        yield window;
      }
    } finally {
      for (const { content } of windows) await content?.close();
    }
    reading.progress?.(Math.min(1, (at + readAhead) / digests.length));
  }
}

/** A sealed entry, with the beginning of the window that sealed it. */
export interface ReadLine extends SealedLine {
  readonly window: string;
}

/**
 * Sealed entries, with others of the windows that have them: the first windows' first, late ones
 * after the others of their window, and perhaps twice.
 * @throws {BrokenTrail} when a window is missing, or not as its sealer left it; what the archive throws
 */
export async function* readTrail(reading: Reading): AsyncGenerator<ReadLine> {
  const listing = await listFrom(reading);
  for await (const { digest, content } of readWindows(reading, listing)) {
    if (!content) continue;
    for await (const line of linesOf(content)) yield { ...line, window: digest.from };
  }
}
