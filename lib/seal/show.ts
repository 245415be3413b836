/** The trail as admins are shown it: how it stands, and its digests back along the chain. */
import { dayInMilliseconds } from '../time.ts';
import { findDigest, findNewest, listWindows, type SignedArchive } from './archive.ts';
import { digestName, fingerprintOf, type SignedDigest, timeBefore, timeInName } from './digest.ts';
import { isBehind } from './verification.ts';

/**
 * Summarises how a trail stands.
 * @param interval seconds from one window to the next, for a trail without a digest
 */
export const summarise = async (trail: SignedArchive, interval: number, now: Date) => {
  const key = fingerprintOf(trail.publicKey);
  const { newest: found } = await findNewest(trail, now);
  if (!found) return { key, interval, newest: null, behind: null, verified: null };
  const { from, until, entries, verified } = found;
  const age = Math.floor((now.getTime() - Date.parse(until)) / 1000);
  return {
    key,
    interval: found.interval,
    newest: { file: digestName(from), from, until, count: entries.count },
    behind: isBehind(found, { now: now.getTime() }) ? age : null,
    verified,
  };
};

/** The file of a digest, to the byte: only a file of exactly this form is read as a digest. */
const fileOf = ({ sha256: _, ...digest }: SignedDigest): string => `${JSON.stringify(digest)}\n`;

/**
 * Reads a digest and those of the day before it at once, by their names, because following the chain
 * would wait for each of them.
 */
const readAhead = async (trail: SignedArchive, first: string, limit: number) => {
  const from = timeInName(first);
  const after = new Date(Date.parse(from) + 1).toISOString();
  const { digests } = await listWindows(trail.archive, timeBefore(from, dayInMilliseconds), after);
  const read = digests
    .slice(-limit)
    .map(async (name) => [name, await findDigest(trail, name)] as const);
  return new Map(await Promise.all(read));
};

interface Part {
  /** The name of the first; absent: the newest. */
  readonly first: string | undefined;
  readonly limit: number;
  readonly now: Date;
}

/**
 * Reads files of digests from one on back along `previous`, until a digest is not there or not as its
 * sealer left it.
 * @returns the files, and the name of the next one; undefined when the chain has ended
 */
export const readBack = async (
  trail: SignedArchive,
  { first, limit, now }: Part,
): Promise<{ files: readonly string[]; next: string | undefined }> => {
  const { newest } = first === undefined ? await findNewest(trail, now) : {};
  let next = newest ? digestName(newest.from) : first;
  const ahead = next === undefined ? new Map() : await readAhead(trail, next, limit);
  const files: string[] = [];
  while (next !== undefined && files.length < limit) {
    const digest: SignedDigest | undefined = ahead.get(next) ?? (await findDigest(trail, next));
    if (digest) files.push(fileOf(digest));
    next = digest?.previous?.file;
  }
  return { files, next };
};
