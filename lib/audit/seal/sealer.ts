import { createGzip } from 'node:zlib';
import { namedError } from '../../errors.ts';
import {
  type Archive,
  type ArchivedFile,
  BrokenTrail,
  findDigest,
  findFile,
  linesOf,
  listDigests,
  listFiles,
  notAsSealed,
  piped,
  readEntriesFile,
} from './archive.ts';
import {
  beginning,
  type Digest,
  digestName,
  entriesName,
  fingerprintOf,
  isDigestName,
  type SignedDigest,
  type Signer,
  signDigest,
} from './digest.ts';
import { type LateEntries, openLateEntries } from './late.ts';
import {
  hashOf,
  type Item,
  lineOf,
  markLate,
  type ReplayedEntry,
  replayedBy,
  sha256,
} from './line.ts';
import { type Spool, spool } from './spool.ts';
import type { EntrySource } from './table.ts';

/** What a sealer works with. */
export interface Sealing {
  readonly archive: Archive;
  readonly source: EntrySource;
  readonly signer: Signer;
  /** Seconds: the length of a window. */
  readonly interval: number;
  /** Days after which windows leave the archive; 0 or absent: never. */
  readonly archiveDays?: number;
  /** What this process has seen of the archive: no window may be gone. Absent: that is not asked. */
  readonly memory?: { newest?: Digest };
}

/** Milliseconds that a window stays open past its end, for entries that are being written. */
export const graceOf = (interval: number): number => Math.min(interval, 60) * 1000;

/** Milliseconds before a window that are read once more with it, at least: indexes lag. */
export const recheckOf = (interval: number): number => Math.max(6 * interval, 60) * 1000;

const day = 86_400_000;

/** The time so many milliseconds before another one, but not before all. */
export const timeBefore = (time: string, milliseconds: number): string =>
  time === beginning ? beginning : new Date(Date.parse(time) - milliseconds).toISOString();

/** The end of the newest window that is over. */
const closedUntil = (interval: number, now: Date): string => {
  const length = interval * 1000;
  return new Date(Math.floor((now.getTime() - graceOf(interval)) / length) * length).toISOString();
};

/** What a run finds in the archive. */
interface Found {
  /** The last digest that a sealer signed. */
  readonly newest: SignedDigest | undefined;
  /** Names of digests after it, which no sealer signed. */
  readonly skipped: readonly string[];
  /** Files of the last days, by name. */
  readonly recent: ReadonlyMap<string, ArchivedFile>;
}

/** Digests that no sealer signed and that a run goes past: more are no junk, but of another key. */
const maxSkipped = 1000;

/** @throws {BrokenTrail} when the last of too many is none */
const lastSigned = async (
  { archive, signer }: Sealing,
  digests: readonly ArchivedFile[],
): Promise<Omit<Found, 'recent'>> => {
  const skipped: string[] = [];
  for (const file of digests.toReversed()) {
    const newest = await findDigest(archive, file, signer.publicKey);
    if (newest) return { newest, skipped };
    skipped.push(file.name);
    if (skipped.length > maxSkipped) throw notAsSealed(skipped[0] ?? '');
  }
  return { newest: undefined, skipped };
};

/** @throws {BrokenTrail} when there are digests, and none is signed by the key */
const findNewest = async (sealing: Sealing, now: Date): Promise<Found> => {
  const { archive } = sealing;
  const present = digestName(now.toISOString());
  const recent = await listFiles(archive, digestName(timeBefore(now.toISOString(), 2 * day)));
  const digests = [...recent.values()].filter(({ name }) => isDigestName(name));
  const found = await lastSigned(sealing, digests);
  if (found.newest) return { ...found, recent };
  const all = await lastSigned(sealing, await listDigests(archive, digestName(beginning)));
  // Junk of a time to come may lie there before the first run; what is older was signed once.
  const [older] = all.newest ? [] : all.skipped.filter((name) => name <= present);
  if (older) throw notAsSealed(older);
  return { ...all, recent };
};

/** A file by what its list says, which tells the first of its versions. */
const fileIn = async (
  { archive }: Sealing,
  { recent }: Pick<Found, 'recent'>,
  name: string,
): Promise<ArchivedFile | undefined> => recent.get(name) ?? (await findFile(archive, name));

/** Digests from the newest back to the first that ends after a time, or to one that cannot be read. */
const digestsSince = async (
  sealing: Sealing,
  { newest, recent }: Window,
  since: string,
): Promise<readonly SignedDigest[]> => {
  const { archive, signer } = sealing;
  const digests: SignedDigest[] = [];
  let digest: SignedDigest | undefined = newest;
  while (digest && digest.until > since) {
    digests.push(digest);
    const { previous }: SignedDigest = digest;
    const file = previous ? await fileIn(sealing, { recent }, previous.file) : undefined;
    digest = file && (await findDigest(archive, file, signer.publicKey));
  }
  return digests;
};

/** What is read once more with a window: windows that are sealed. */
interface Recheck {
  readonly since: string;
  /** All that end after then. */
  readonly digests: readonly SignedDigest[];
}

/**
 * Six intervals before a window; and the whole of a window that reaches into them, as it may have
 * been closed by a clock that ran ahead. The first window has all that was there, and is not read
 * as a whole again.
 */
const recheckBefore = async (sealing: Sealing, window: Window): Promise<Recheck> => {
  const since = timeBefore(window.from, recheckOf(sealing.interval));
  const digests = await digestsSince(sealing, window, since);
  const oldest = digests.at(-1);
  const isWhole = oldest?.previous && oldest.from < since;
  return { since: isWhole ? oldest.from : since, digests };
};

const entriesOf = async (sealing: Sealing, { recent }: Window, digest: SignedDigest) => {
  const { file: name } = digest.entries;
  const file = await fileIn(sealing, { recent }, name);
  return file && readEntriesFile(sealing.archive, digest, new Map([[name, file]]));
};

/**
 * Notes the entries since a time that are sealed: windows that end after it hold all of them. Late
 * ones may bear any time. What cannot be read counts as not sealed, so that it is sealed once more.
 */
const noteSealed = async (
  sealing: Sealing,
  window: Window,
  { since, digests }: Recheck,
  late: LateEntries,
): Promise<void> => {
  for (const digest of digests) {
    const file = await entriesOf(sealing, window, digest);
    for await (const line of file ? linesOf(file) : []) {
      if (line.late || String(line.created_at) >= since) late.noteSealed(line.id);
    }
    await file?.close();
  }
};

/** Entries of a replay, as they were when it wrote them. */
const readReplayed = async (
  { source }: Sealing,
  replayed: readonly ReplayedEntry[],
): Promise<readonly Item[]> => {
  const hashes = new Map(replayed.map(({ id, sha256 }) => [id, sha256]));
  const items = await source.byIds([...hashes.keys()]);
  return items.filter((item) => hashes.get(Number(item.id)) === hashOf(item));
};

interface Tally {
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

/** What a run seals, and the digest that it builds on. */
interface Window extends Pick<Found, 'newest' | 'recent'> {
  readonly from: string;
  readonly until: string;
}

/** Whether the time of an entry is as its index key says, for which it was read. */
const isOnTime = ({ created_at }: Item, { from, until }: Window): boolean =>
  typeof created_at === 'string' && created_at >= from && created_at < until;

/** What a window finds out about entries that are not of its time. */
interface Beside {
  readonly late: LateEntries;
  /** What entries of the window list as replayed. */
  readonly replayed: ReplayedEntry[];
}

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
async function* linesOfWindow(
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

/** To be closed. */
const compress = (lines: AsyncIterable<string>): Promise<Spool> =>
  spool(piped(lines, createGzip()));

/** @throws {BrokenTrail} when the file of its entries that is there is not what was to be written */
const expectEntries = async (archive: Archive, digest: Digest): Promise<void> => {
  const { file: name } = digest.entries;
  const file = await findFile(archive, name);
  const content = file && (await readEntriesFile(archive, digest, new Map([[name, file]])));
  if (!content) throw notAsSealed(name);
  await content.close();
};

/**
 * @param signed the file that was to be written, where one of its name is there
 * @returns whether that is of another sealer; it is our own where the response to a write was lost
 * @throws {BrokenTrail} when no sealer wrote it
 */
const isAnothers = async (
  archive: Archive,
  { name, content }: { name: string; content: Buffer },
  { publicKey }: Signer,
): Promise<boolean> => {
  const file = await findFile(archive, name);
  const stored = file && (await findDigest(archive, file, publicKey));
  if (!stored) throw notAsSealed(name);
  return stored.sha256 !== sha256(content).toString('hex');
};

/** @returns the digest; undefined when another sealer was faster */
const writeWindow = async (
  { archive, signer, interval }: Sealing,
  { from, until, newest }: Window,
  { file, tally }: { file: Spool; tally: Tally },
): Promise<Digest | undefined> => {
  const hash = file.sha256.toString('hex');
  const digest: Digest = {
    format: 1,
    from,
    until,
    interval,
    entries: { file: entriesName(from, hash), sha256: hash, ...tally },
    previous: newest
      ? { file: digestName(newest.from), sha256: newest.sha256, signature: newest.signature }
      : null,
    key: fingerprintOf(signer.publicKey),
  };
  if (!(await archive.create(digest.entries.file, file))) await expectEntries(archive, digest);
  const [name, content] = [digestName(from), await signDigest(digest, signer)];
  if (await archive.create(name, content)) return digest;
  return (await isAnothers(archive, { name, content }, signer)) ? undefined : digest;
};

/** @throws {BrokenTrail} when a digest is gone that was the newest in a run before */
const expectRemembered = ({ memory }: Sealing, newest: Digest | undefined): void => {
  if (!memory) return;
  if (memory.newest && !(newest && newest.until >= memory.newest.until)) {
    throw new BrokenTrail(`${digestName(memory.newest.from)} is not there any more`);
  }
  if (newest) memory.newest = newest;
};

/**
 * What the next window goes on from.
 * @throws {BrokenTrail} when the digest that comes next in the archive is none
 */
const findStart = async (
  sealing: Sealing,
  now: Date,
  onSkipped: (names: readonly string[]) => void,
): Promise<Omit<Window, 'until'>> => {
  const { newest, skipped, recent } = await findNewest(sealing, now);
  const from = newest?.until ?? beginning;
  const next = digestName(from);
  const others = skipped.filter((name) => name !== next);
  if (others.length > 0) onSkipped(others);
  if (others.length < skipped.length) throw notAsSealed(next);
  expectRemembered(sealing, newest);
  return { from, newest, recent };
};

/**
 * Seals all that is over and not sealed, as one window; without an entry too. It keeps nothing from
 * run to run and may end anywhere: the file of entries counts once a digest names it, and the name
 * of a digest is taken once.
 * @param onSkipped is told the names of digests after the newest, which no sealer signed
 * @returns the newest digest's window; undefined when nothing is over since the one before, or
 *   another sealer was faster
 * @throws {BrokenTrail} when what it would build on is not as a sealer left it; Error `ClockBehind`
 *   when the newest window lies in the future; DomainError STORAGE_FAULT, and the errors of archive and signer
 */
export const sealWindow = async (
  sealing: Sealing,
  now: Date,
  onSkipped: (names: readonly string[]) => void = () => undefined,
): Promise<Digest | undefined> => {
  const { interval } = sealing;
  const start = await findStart(sealing, now, onSkipped);
  const until = closedUntil(interval, now);
  if (until <= start.from) {
    if (Date.parse(start.from) > now.getTime()) throw namedError('ClockBehind');
    return undefined;
  }
  const window = { ...start, until };
  const tally: Tally = { count: 0, late: 0, oldest: null, newest: null };
  const file = await compress(linesOfWindow(sealing, window, tally));
  try {
    const digest = await writeWindow(sealing, window, { file, tally });
    if (digest && sealing.memory) sealing.memory.newest = digest;
    return digest;
  } finally {
    await file.close();
  }
};
