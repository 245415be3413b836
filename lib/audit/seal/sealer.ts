import { createGzip } from 'node:zlib';
import { namedError } from '../../errors.ts';
import {
  type Archive,
  findDigest,
  findFile,
  notAsSealed,
  piped,
  readEntriesFile,
} from '../archive/archive.ts';
import {
  type Digest,
  digestName,
  entriesName,
  fingerprintOf,
  type Signer,
  signDigest,
} from '../archive/digest.ts';
import { sha256 } from '../archive/line.ts';
import { type Spool, spool } from '../archive/spool.ts';
import { closedUntil } from '../archive/windows.ts';
import { linesOfWindow, type Tally } from './lines.ts';
import type { Sealing } from './sealing.ts';
import { findStart, type Window } from './start.ts';

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
