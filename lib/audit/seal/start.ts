/** What the next window goes on from: the newest digest that a sealer signed. */
import {
  type ArchivedFile,
  BrokenTrail,
  findDigest,
  listDigests,
  listFiles,
  notAsSealed,
} from '../archive/archive.ts';
import {
  beginning,
  type Digest,
  digestName,
  isDigestName,
  type SignedDigest,
} from '../archive/digest.ts';
import { timeBefore } from '../archive/windows.ts';
import type { Sealing } from './sealing.ts';

const day = 86_400_000;

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

/** @throws {BrokenTrail} when a digest is gone that was the newest in a run before */
const expectRemembered = ({ memory }: Sealing, newest: Digest | undefined): void => {
  if (!memory) return;
  if (memory.newest && !(newest && newest.until >= memory.newest.until)) {
    throw new BrokenTrail(`${digestName(memory.newest.from)} is not there any more`);
  }
  if (newest) memory.newest = newest;
};

/** What a run seals, and the digest that it builds on. */
export interface Window extends Pick<Found, 'newest' | 'recent'> {
  readonly from: string;
  readonly until: string;
}

/**
 * What the next window goes on from.
 * @throws {BrokenTrail} when the digest that comes next in the archive is none
 */
export const findStart = async (
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
