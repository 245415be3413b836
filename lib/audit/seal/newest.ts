/** What the newest digest says of digests that may be gone: nothing in the archive itself does. */
import { type Archive, findFile, readFile } from './archive.ts';
import { digestName, type SignedDigest, timeInName } from './digest.ts';
import { sha256 } from './line.ts';
import { graceOf } from './sealer.ts';
import type { Finding } from './verify.ts';

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

/**
 * Whether sealing has stood still for two windows, before a time that is asked for.
 * @param until exclusive; absent: none is, and now it must not stand still
 */
export const isBehind = (
  { until: end, interval }: SignedDigest,
  { now, until }: { now: number; until?: string | undefined },
): boolean => {
  const due = new Date(now - 3 * interval * 1000 - graceOf(interval)).toISOString();
  return end < (until !== undefined && until < due ? until : due);
};
