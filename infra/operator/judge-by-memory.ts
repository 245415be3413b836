/** What is found by what was verified on this machine before: another key, or a digest that is gone. */
import type { KeyObject } from 'node:crypto';
import { fingerprintOf, type SignedDigest, timeInName } from '../../lib/audit/archive/digest.ts';
import { keptSince } from '../../lib/audit/retention.ts';
import { compareRemembered, type Remembered, remember } from '../../lib/audit/verify/newest.ts';
import type { Finding, Verified } from '../../lib/audit/verify/verification.ts';
import { config } from '../../lib/settings.ts';
import type { TimeRange } from './command.ts';
import { explain } from './failure.ts';
import { newestDigests, sealKeys } from './seal-memory.ts';
import type { OpenedTrail } from './sealed-trail.ts';

/** What is to be verified, and by which key. */
export interface Wanted {
  readonly range: TimeRange;
  /** Absent: the key of the service. */
  readonly pinned: KeyObject | undefined;
}

/** Windows that end before then may have left the archive; undefined: none may. */
export const mayLackBefore = () => keptSince(config.auditArchiveDays, Date.now());

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
): Promise<Finding | undefined> => {
  if (!newest) return undefined;
  // A copy may be older than what was verified last.
  const isOutside = until !== undefined && timeInName(newest.file) >= until;
  if (place === undefined && isOutside) return undefined;
  return compareRemembered(archive, newest, mayLackBefore());
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
  const remembered = await judgeRemembered(trail, known, range);
  const found = { key: judgeKey(trail, known, pinned), remembered };
  if (verified.newest) keep(trail, verified.newest, known, found);
  return [found.key, found.remembered];
};
