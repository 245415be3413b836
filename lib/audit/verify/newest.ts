/** What the newest digest says of digests that may be gone: nothing in the archive itself does. */
import { type Archive, findFile, readFile } from '../archive/archive.ts';
import { digestName, type SignedDigest, timeInName } from '../archive/digest.ts';
import { sha256 } from '../archive/line.ts';
import { graceOf } from '../archive/windows.ts';
import type { Finding } from './verification.ts';

/** A digest that was the newest when an archive was verified. */
export interface Remembered {
  readonly file: string;
  readonly sha256: string;
}

export const remember = ({ from, sha256 }: SignedDigest): Remembered => ({
  file: digestName(from),
  sha256,
});

/**
 * Whether an archive still has the digest that was its newest.
 * @param keptSince windows that end before then may have left it; absent: none may
 */
export const compareRemembered = async (
  archive: Archive,
  remembered: Remembered,
  keptSince = '',
): Promise<Finding | undefined> => {
  const { file: subject } = remembered;
  const file = await findFile(archive, subject);
  const content = file && (await readFile(archive, file));
  if (!content) return timeInName(subject) < keptSince ? undefined : { kind: 'shorter', subject };
  const isSame = sha256(content).toString('hex') === remembered.sha256;
  return isSame ? undefined : { kind: 'different', subject };
};

interface Expected {
  readonly now: number;
  /** Exclusive; absent: no time is asked for, and now it must not stand still. */
  readonly until?: string | undefined;
  /** Seconds from one window to the next, as the sealer is set now; absent: as it was. */
  readonly interval?: number | undefined;
}

/** Milliseconds for which a machine may stand still, however short its windows are. */
const standstill = 300_000;

/** Whether sealing has stood still for two windows, and five minutes at least, before a time that is asked for. */
export const isBehind = (
  { until: end, interval: before }: SignedDigest,
  { now, until, interval: set = before }: Expected,
): boolean => {
  const interval = Math.max(before, set);
  const allowed = Math.max(3 * interval * 1000 + graceOf(interval), standstill);
  const due = new Date(now - allowed).toISOString();
  return end < (until !== undefined && until < due ? until : due);
};
