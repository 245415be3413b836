/** Remembers what was verified on this machine, so that another key or a lost digest is found. */
import type { KeyObject } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import * as v from 'valibot';
import { faultName } from '../../lib/errors.ts';
import {
  compareRemembered,
  type Finding,
  fingerprintOf,
  type Remembered,
  remember,
  type SignedDigest,
  timeInName,
  type Verified,
} from '../../lib/seal/door.ts';
import { writePrivately } from '../local/folder.ts';
import type { TimeRange } from './command.ts';
import { explain, Failure } from './failure.ts';
import type { OpenedTrail } from './sealed-trail.ts';

/** Outside every archive: whoever can write to an archive must not be able to change the memory. */
const stateFolder = () =>
  join(process.env.XDG_STATE_HOME || join(homedir(), '.local', 'state'), 'accounts-service');

const readText = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '{}';
    throw error;
  }
};

const cannotRead = (path: string, cause: unknown): Failure =>
  new Failure(
    `${path} cannot be read (${faultName(cause)}), which has what was verified before: put it right, or move it away.`,
    { cause },
  );

/** Values by name, in a file. */
const memoryIn = <T>(file: string, value: v.GenericSchema<T>) => {
  const all = v.record(v.string(), value);
  const pathIn = (folder: string) => join(folder, file);
  const readAll = (): Readonly<Record<string, T>> => {
    const path = pathIn(stateFolder());
    try {
      return v.parse(all, JSON.parse(readText(path)));
    } catch (error) {
      throw cannotRead(path, error);
    }
  };
  return {
    /** @throws {Failure} when the file cannot be read */
    recall: (name: string): T | undefined => readAll()[name],
    /** @throws {Failure} when the file cannot be read; errors of the file system */
    remember: (name: string, remembered: T): void => {
      const known = readAll();
      mkdirSync(stateFolder(), { recursive: true, mode: 0o700 });
      const text = JSON.stringify({ ...known, [name]: remembered }, null, 2);
      writePrivately(pathIn(stateFolder()), `${text}\n`);
    },
  };
};

/** The newest verified digests, by the fingerprints of their keys. */
const newestDigests = memoryIn(
  'newest-digests.json',
  v.object({ file: v.string(), sha256: v.string() }),
);

/** The fingerprints of the keys by which trails were verified, by their services. */
const sealKeys = memoryIn('seal-keys.json', v.string());

/** The range to verify, and the key to expect. */
export interface Wanted {
  readonly range: TimeRange;
  /** Absent: the key of the service. */
  readonly pinned: KeyObject | undefined;
}

/** What is remembered of a trail. */
interface Known {
  readonly newest: Remembered | undefined;
  /** The fingerprint of its key. */
  readonly key: string | undefined;
}

/** @throws {Failure} when that cannot be read */
const recall = ({ publicKey, place }: OpenedTrail): Known => ({
  newest: newestDigests.recall(fingerprintOf(publicKey)),
  key: place === undefined ? undefined : sealKeys.recall(place),
});

/** @param pinned the key that the trail must have; absent: the remembered one */
const judgeKey = (
  { publicKey }: OpenedTrail,
  { key }: Known,
  pinned: KeyObject | undefined,
): Finding | undefined => {
  const subject = fingerprintOf(publicKey);
  if (pinned) {
    const wanted = fingerprintOf(pinned);
    return wanted === subject
      ? undefined
      : { kind: 'other key', subject, before: `that is ${wanted}` };
  }
  return key === undefined || key === subject
    ? undefined
    : { kind: 'new key', subject, before: `it was ${key}` };
};

/** Checks that the digest is still there that was the newest before. */
const judgeRemembered = async (
  { archive, place }: OpenedTrail,
  { newest }: Known,
  { until }: TimeRange,
  left: string,
): Promise<Finding | undefined> => {
  if (!newest) return undefined;
  // A copy may be older than what was verified last.
  const isOutside = until !== undefined && timeInName(newest.file) >= until;
  if (place === undefined && isOutside) return undefined;
  return compareRemembered(archive, newest, left);
};

/** Remembers what was verified, unless it contradicts what was remembered. */
const keep = ({ place }: OpenedTrail, newest: SignedDigest, known: Known, found: Judged): void => {
  const latest = remember(newest);
  const isLater = known.newest === undefined || latest.file > known.newest.file;
  try {
    if (!found.remembered && isLater) newestDigests.remember(newest.key, latest);
    if (!found.key && place !== undefined) sealKeys.remember(place, newest.key);
  } catch (error) {
    console.error(`What was verified cannot be remembered: ${explain(error)}`);
  }
};

interface Judged {
  readonly key: Finding | undefined;
  readonly remembered: Finding | undefined;
}

/**
 * Compares a trail with what is remembered of it, and remembers what was verified now.
 * @throws {Failure} when the memory cannot be read
 */
export const judgeByMemory = async (
  trail: OpenedTrail,
  verified: Verified,
  { range, pinned }: Wanted,
): Promise<readonly (Finding | undefined)[]> => {
  const known = recall(trail);
  const remembered = await judgeRemembered(trail, known, range, verified.left);
  const found = { key: judgeKey(trail, known, pinned), remembered };
  if (verified.newest) keep(trail, verified.newest, known, found);
  return [found.key, found.remembered];
};
