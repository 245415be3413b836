/** Closes windows, one after another, until all that is over is sealed (lib/seal/README.md, Windows). */
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
  /** Entries that a window has at most; absent: as many as by default. */
  readonly windowSize?: number;
  /** Days after which windows leave the archive; 0 or absent: never. */
  readonly archiveDays?: number;
  /** What this process has seen of the archive: no window may be gone. Absent: that is not asked. */
  readonly memory?: { newest?: Digest };
}

const defaultSize = 100_000;

/** What a run goes on from. */
export interface Start {
  readonly now: Date;
  /** The last digest that a sealer signed. */
  readonly newest: SignedDigest | undefined;
  readonly from: string;
}

/** @throws {BrokenTrail} when a digest is gone that was the newest in a run before */
const expectRemembered = ({ memory }: Sealing, newest: Digest | undefined): void => {
  if (!memory) return;
  if (memory.newest && !(newest && newest.until >= memory.newest.until)) {
    throw new BrokenTrail(`${digestName(memory.newest.from)} is not there any more`);
  }
  if (newest) memory.newest = newest;
};

/** What a sealer seals, as who only reads it has it. */
export const trailOf = ({ archive, signer }: Sealing): SignedArchive => ({
  archive,
  publicKey: signer.publicKey,
});

/**
 * What a run goes on from.
 * @param onSkipped is told the names of digests after the newest, which no sealer signed
 * @throws {BrokenTrail} when the digest that comes next in the archive is none, or there are digests
 *   and none is signed by the key
 */
export const findStart = async (
  sealing: Sealing,
  now: Date,
  onSkipped: (names: readonly string[]) => void = () => undefined,
): Promise<Start> => {
  const { newest, skipped } = await findNewest(trailOf(sealing), now);
  const from = newest?.until ?? beginning;
  const next = digestName(from);
  // Junk of a time to come may lie there before the first run; what is older was signed once.
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
 * What the run after a digest reads once more: from six intervals before the run that closed its window;
 * and the whole of a window in which that begins, as a clock that ran ahead may have closed it. The
 * first window has all that was there, and is not read as a whole again.
 * @returns when that time begins; and the digests that end after that, newest first
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
 * Notes what of a time is sealed: windows that end after it hold all of it. Late entries may bear any
 * time. What cannot be read counts as not sealed, so that it is sealed once more.
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

/** Entries of the time that a run reads once more. */
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

/** @throws {BrokenTrail} when the file of its entries that is there is not what was to be written */
const expectEntries = async (archive: Archive, digest: Digest): Promise<void> => {
  const content = await readEntriesFile(archive, digest);
  if (!content) throw notAsSealed(digest.entries.file);
  await content.close();
};

/** Which part of the trail was checked last, with how many faults. */
export type Check = Digest['verified'];

/**
 * @returns the digest; undefined when another sealer was faster
 * @throws {BrokenTrail} when a file of its name is there that no sealer wrote
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
    ...{ from, until, at: now.toISOString(), interval, archive_days: archiveDays ?? 0 },
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
  // What is there is our own where the response to the write was lost.
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

/** How a run goes. */
export interface RunOptions {
  readonly verified?: Check;
  /** Whether no further window is to be closed now. */
  readonly isOver?: () => boolean;
}

/**
 * Seals all that is over and not sealed, window by window; without an entry too. It keeps nothing from
 * run to run and may end anywhere: the file of entries counts once a digest names it, and the name
 * of a digest is taken once.
 * @returns the newest digest; undefined when nothing is over since the one before, or another sealer
 *   was faster from the first window on
 * @throws {BrokenTrail} when what it would build on is not as a sealer left it; Error `ClockBehind`
 *   when the newest window lies in the future; DomainError STORAGE_FAULT, and the errors of archive and signer
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

/** The same from what the archive has. */
export const sealWindows = async (
  sealing: Sealing,
  now: Date,
  onSkipped?: (names: readonly string[]) => void,
): Promise<SignedDigest | undefined> => sealFrom(sealing, await findStart(sealing, now, onSkipped));
