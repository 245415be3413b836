/** What was verified on this machine before, and what is found by it: another key, or a digest that is gone. */
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

/** Outside every archive: who can write there must not be able to make this forget. */
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

/** What is remembered by name, in a file. */
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
    /** Keeps it for the next time. @throws {Failure} the same; what the file system throws */
    remember: (name: string, remembered: T): void => {
      const known = readAll();
      mkdirSync(stateFolder(), { recursive: true, mode: 0o700 });
      const text = JSON.stringify({ ...known, [name]: remembered }, null, 2);
      writePrivately(pathIn(stateFolder()), `${text}\n`);
    },
  };
};

/** The newest digest that was verified on this machine, by the fingerprint of its key. */
const newestDigests = memoryIn(
  'newest-digests.json',
  v.object({ file: v.string(), sha256: v.string() }),
);

/** The fingerprint of the key by which a service's trail was verified, by the service. */
const sealKeys = memoryIn('seal-keys.json', v.string());

/** What is to be verified, and by which key. */
export interface Wanted {
  readonly range: TimeRange;
  /** Absent: the key of the service. */
  readonly pinned: KeyObject | undefined;
}

/** What of this trail was verified on this machine before. */
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

/** @param pinned the key that it must be; absent: it must be the one that is known */
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

/** Whether the digest is there that was the newest before. */
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

/** Keeps what was verified for the next time, as far as it goes on from what is known. */
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
 * What follows from what was verified before; keeps what was now.
 * @throws {Failure} when what was kept cannot be read
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
