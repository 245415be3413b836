import { setTimeout as pause } from 'node:timers/promises';
import { DomainError } from '../../lib/errors.ts';
import { allocateUserIds, insertUser } from '../../lib/users/store.ts';
import { findHashes } from '../../lib/users/transfer.ts';
import type { Candidate, Rejection } from './import-lines.ts';

/** How far an import has come: users and lines, counted as they are dealt with. */
export interface Tally {
  imported: number;
  /** Were there with the same hash: an earlier run imported them. */
  present: number;
  rejected: number;
}

/** Users that are written at the same time. */
const concurrency = 16;

/** Attempts, and milliseconds of the first pause, while the store is throttled or away. */
const attempts = 6;
const firstPause = 200;

/** @throws {DomainError} what `work` throws, if a storage fault when it lasts for six seconds */
const patiently = async <T>(work: () => Promise<T>): Promise<T> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      const passing = error instanceof DomainError && error.code === 'STORAGE_FAULT';
      if (!passing || attempt === attempts) throw error;
      await pause(firstPause * 2 ** (attempt - 1));
    }
  }
};

const anotherHash =
  'has an email that is registered with another hash: it was there before, or has changed since it was imported';

/** Of the candidates, those whose email nobody has yet. */
const findFresh = async (
  candidates: readonly Candidate[],
  tally: Tally,
  reject: (rejection: Rejection) => void,
): Promise<readonly Candidate[]> => {
  const hashes = await patiently(() => findHashes(candidates.map(({ user }) => user.email)));
  return candidates.filter(({ line, user }, i) => {
    const hash = hashes[i];
    if (hash === user.password_hash) tally.present += 1;
    else if (hash !== undefined) reject({ line, reason: anotherHash });
    return hash === undefined;
  });
};

const insert = async (
  { line, user }: Candidate,
  id: number,
  tally: Tally,
  reject: (rejection: Rejection) => void,
): Promise<void> => {
  try {
    await patiently(() => insertUser({ ...user, id }));
    tally.imported += 1;
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== 'EMAIL_REGISTERED') throw error;
    reject({ line, reason: 'has an email that was registered just now' });
  }
};

/**
 * Stores the users of a block who are not there yet, each of them whole or not at all, with ids in
 * the order of their lines.
 * @param tally is added to as users are stored
 * @throws {DomainError} STORAGE_FAULT, after the users under way
 */
export const importBlock = async (
  candidates: readonly Candidate[],
  tally: Tally,
  reject: (rejection: Rejection) => void,
): Promise<void> => {
  if (candidates.length === 0) return;
  const fresh = await findFresh(candidates, tally, reject);
  if (fresh.length === 0) return;
  const firstId = await patiently(() => allocateUserIds(fresh.length));
  const rest = fresh.entries();
  const work = async () => {
    for (const [i, candidate] of rest) await insert(candidate, firstId + i, tally, reject);
  };
  const ends = await Promise.allSettled(Array.from({ length: concurrency }, work));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed) throw failed.reason;
};
