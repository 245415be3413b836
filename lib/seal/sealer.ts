/** Closes windows one after another, until all that is over is sealed (lib/seal/README.md, Windows). */
import { createGzip } from 'node:zlib';
import { namedError } from '../errors.ts';
import {
  type Archive,
  BrokenTrail,
  findDigest,
  findNewest,
  linesOf,
  notAsSealed,
  piped,
  readEntriesFile,
  type SignedArchive,
} from './archive.ts';
import {
  beginning,
  closedUntil,
  type Digest,
  digestName,
  entriesName,
  fingerprintOf,
  linkTo,
  readDigest,
  recheckOf,
  type SignedDigest,
  type Signer,
  signDigest,
  timeBefore,
} from './digest.ts';
import { type Item, sha256 } from './line.ts';
import { type Spool, spool } from './spool.ts';
import type { EntrySource } from './table.ts';
import {
  type Closing,
  type LateEntries,
  linesOfWindow,
  newTally,
  openLateEntries,
  type Run,
} from './window.ts';

/** What a sealer works with. */
export interface Sealing {
  readonly archive: Archive;
  readonly source: EntrySource;
  readonly signer: Signer;
  /** Seconds: the length of a window. */
  readonly interval: number;
  /** Entries of a window at most; absent: the default. */
  readonly windowSize?: number;
  /** Days after which windows leave the archive; 0 or absent: never. */
  readonly archiveDays?: number;
  /** The newest digest that this process has seen, which must not disappear; absent: not checked. */
  readonly memory?: { newest?: Digest };
}

const defaultSize = 100_000;

/** Where a run continues. */
export interface Start {
  readonly now: Date;
  /** The newest digest that the key has signed. */
  readonly newest: SignedDigest | undefined;
  readonly from: string;
}

/** @throws {BrokenTrail} when the newest digest of an earlier run is gone */
const expectRemembered = ({ memory }: Sealing, newest: Digest | undefined): void => {
  if (!memory) return;
  if (memory.newest && !(newest && newest.until >= memory.newest.until)) {
    throw new BrokenTrail(`${digestName(memory.newest.from)} is not there any more`);
  }
  if (newest) memory.newest = newest;
};

/** The archive of a sealer, for reading. */
export const trailOf = ({ archive, signer }: Sealing): SignedArchive => ({
  archive,
  publicKey: signer.publicKey,
});

/**
 * Finds where a run continues.
 * @param onSkipped receives the names of unsigned digests after the newest one
 * @throws {BrokenTrail} when an unsigned file has the name of the next digest, or no digest is signed
 *   by the key although there are some
 */
export const findStart = async (
  sealing: Sealing,
  now: Date,
  onSkipped: (names: readonly string[]) => void = () => undefined,
): Promise<Start> => {
  const { newest, skipped } = await findNewest(trailOf(sealing), now);
  const from = newest?.until ?? beginning;
  const next = digestName(from);
  // Before the first run, junk may bear the name of a future time; older digests were signed once.
  const present = digestName(now.toISOString());
  const [older] = newest ? [] : skipped.filter((name) => name <= present);
  if (older) throw notAsSealed(older);
  const others = skipped.filter((name) => name !== next);
  if (others.length > 0) onSkipped(others);
  if (others.length < skipped.length) throw notAsSealed(next);
  expectRemembered(sealing, newest);
  return { now, newest, from };
};

/**
 * Finds the time that the run after a digest reads again (lib/seal/README.md, Windows). The first window
 * may be the whole past, and is not read again as a whole.
 * @returns the beginning of that time, and the digests that end after it, newest first
 */
export const readAgainAfter = async (
  newest: SignedDigest,
  trail: SignedArchive,
): Promise<{ readonly since: string; readonly digests: readonly SignedDigest[] }> => {
  const least = timeBefore(newest.at, recheckOf(newest.interval));
  const digests: SignedDigest[] = [];
  let digest: SignedDigest | undefined = newest;
  while (digest && digest.until > least) {
    digests.push(digest);
    const { previous }: SignedDigest = digest;
    digest = previous ? await findDigest(trail, previous.file) : undefined;
  }
  const oldest = digests.at(-1);
  const since = oldest?.previous && oldest.from < least ? oldest.from : least;
  return { since, digests };
};

/**
 * Notes which entries of a window are sealed, if they are of the time that is read again or late. What
 * cannot be read counts as not sealed, and is sealed again.
 */
const noteSealed = async (
  { archive }: Sealing,
  digest: SignedDigest,
  { since, late }: { since: string; late: LateEntries },
): Promise<void> => {
  const content = await readEntriesFile(archive, digest);
  for await (const line of content ? linesOf(content) : []) {
    if (line.late || String(line.created_at) >= since) late.noteSealed(line.id);
  }
  await content?.close();
};

/** Entries of the time that a run reads again. */
async function* reread(
  sealing: Sealing,
  { newest }: Start,
  late: LateEntries,
): AsyncGenerator<Item> {
  if (!newest) return;
  const { since, digests } = await readAgainAfter(newest, trailOf(sealing));
  for (const digest of digests) await noteSealed(sealing, digest, { since, late });
  if (since < newest.until) yield* sealing.source.between(since, newest.until);
}

const openRun = (sealing: Sealing, start: Start, closed: string): Run => {
  const late = openLateEntries();
  const size = sealing.windowSize ?? defaultSize;
  const { source } = sealing;
  return { source, size, closed, late, reread: reread(sealing, start, late), isReread: false };
};

/** @throws {BrokenTrail} when the file of entries that is there differs from the one to write */
const expectEntries = async (archive: Archive, digest: Digest): Promise<void> => {
  const content = await readEntriesFile(archive, digest);
  if (!content) throw notAsSealed(digest.entries.file);
  await content.close();
};

/** The part of the trail that was checked last, with the number of faults. */
export type Check = Digest['verified'];

/**
 * Writes the file of entries and then the digest.
 * @returns the digest; undefined when another sealer was faster
 * @throws {BrokenTrail} when a file that no sealer wrote has one of the names
 */
const writeWindow = async (
  sealing: Sealing,
  { now, newest, verified }: Start & { readonly verified: Check },
  { from, until, tally }: Closing,
  file: Spool,
): Promise<SignedDigest | undefined> => {
  const { archive, signer, interval, archiveDays } = sealing;
  const hash = file.sha256.toString('hex');
  const digest: Digest = {
    format: 2,
    from,
    until,
    at: now.toISOString(),
    interval,
    archive_days: archiveDays ?? 0,
    entries: { file: entriesName(from, hash), sha256: hash, ...tally },
    verified,
    previous: linkTo(newest),
    key: fingerprintOf(signer.publicKey),
  };
  const [name, content] = [digestName(from), await signDigest(digest, signer)];
  if (!(await archive.create(digest.entries.file, file))) await expectEntries(archive, digest);
  const isWritten = await archive.create(name, content);
  const signed = isWritten
    ? readDigest(content, signer.publicKey)
    : await findDigest(trailOf(sealing), name);
  if (typeof signed !== 'object') throw notAsSealed(name);
  // The digest that is there is our own when the response to the write was lost.
  return signed.sha256 === sha256(content).toString('hex') ? signed : undefined;
};

/** Seals the next window. @returns the digest; undefined when another sealer was faster */
const sealNext = async (
  sealing: Sealing,
  run: Run,
  start: Start & { readonly verified: Check },
): Promise<SignedDigest | undefined> => {
  const closing: Closing = { from: start.from, until: run.closed, tally: newTally() };
  const file = await spool(piped(linesOfWindow(run, closing), createGzip()));
  try {
    const digest = await writeWindow(sealing, start, closing, file);
    if (digest && sealing.memory) sealing.memory.newest = digest;
    return digest;
  } finally {
    await file.close();
  }
};

/** Options of a run. */
export interface RunOptions {
  readonly verified?: Check;
  /** Whether to close no further window. */
  readonly isOver?: () => boolean;
}

/**
 * Seals window by window all that is over, with or without entries. A run can be ended at any instant:
 * a file of entries counts only when a digest names it, and a digest is written once.
 * @returns the newest digest; undefined when no window is over, or another sealer closed the first one
 * @throws {BrokenTrail} when the archive is not as a sealer left it; Error `ClockBehind` when the newest
 *   window ends in the future; DomainError STORAGE_FAULT; errors of archive and signer
 */
export const sealFrom = async (
  sealing: Sealing,
  start: Start,
  { verified = start.newest?.verified ?? null, isOver = () => false }: RunOptions = {},
): Promise<SignedDigest | undefined> => {
  const closed = closedUntil(sealing.interval, start.now);
  if (Date.parse(start.from) > start.now.getTime()) throw namedError('ClockBehind');
  if (closed <= start.from) return undefined;
  const run = openRun(sealing, start, closed);
  let sealed: SignedDigest | undefined;
  let next: SignedDigest | undefined;
  try {
    do {
      const after = next ? { newest: next, from: next.until } : {};
      next = await sealNext(sealing, run, { ...start, ...after, verified });
      sealed = next ?? sealed;
    } while (next && next.until < closed && !(run.isReread && isOver()));
    return sealed;
  } finally {
    run.late.close();
  }
};

/** Finds where to continue, and seals. */
export const sealWindows = async (
  sealing: Sealing,
  now: Date,
  onSkipped?: (names: readonly string[]) => void,
): Promise<SignedDigest | undefined> => sealFrom(sealing, await findStart(sealing, now, onSkipped));
