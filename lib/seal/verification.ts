/** The input and output of a verification, and comparisons with earlier verifications. */
import { type Archive, readFile, type SignedArchive } from './archive.ts';
import { digestName, graceOf, type SignedDigest, timeBefore, timeInName } from './digest.ts';
import { sha256 } from './line.ts';
import type { EntrySource } from './table.ts';

/** The kinds of findings, and what they mean. */
export const findingKinds = {
  late: 'was sealed out of order: after its own window, or because its index key is another one',
  changed: 'is not what was sealed',
  resealed: 'is what was sealed first, but was sealed again with other content',
  deleted: 'was sealed and is not in the table',
  misplaced: 'was sealed in a window in which it is not',
  inserted: 'is in the table, but was not sealed in its time',
  unclear: 'may have been sealed: what would say so cannot be read',
  hidden: 'lacks keys of indexes or has wrong ones, so that not every query shows it',
  missing: 'has no digest',
  unreadable: 'is not there, or not as it was sealed',
  'wrongly signed': 'is not signed by the key',
  moved: 'is a digest of another window',
  forked: 'does not follow the digest before it',
  wrong: 'is signed, but not as a sealer writes it',
  altered: 'was overwritten or deleted; its first version counts',
  behind: 'is the end of the newest window: sealing has stopped, or digests were taken away',
  'shown key': 'in the archive is not the public key of its sealer',
  'other key': 'is not the key of --public-key',
  'new key': 'is another key than when this was verified before',
  shorter: 'was the newest digest when this was verified before, and is not there any more',
  different: 'is another digest than the one that was verified before',
} as const;

export interface Finding {
  readonly kind: keyof typeof findingKinds;
  /** The id of an entry, the name of a file, a time, or the fingerprint of a key. */
  readonly subject: string;
  /** The line of an entry, as it was sealed and as it is; or another explanation. */
  readonly before?: string;
  readonly after?: string;
}

/** Whether a finding says that the trail is not intact. */
export const isFault = ({ kind }: Finding): boolean => kind !== 'late';

export interface Verification extends SignedArchive {
  /** The beginning of the first window that is verified; absent: the first of all. */
  readonly since?: string;
  /** Windows that begin at this time or later are not verified. */
  readonly until?: string;
  /** Milliseconds since 1970; absent: the clock. */
  readonly now?: number;
  /** The table; absent: only the archive is verified. */
  readonly source?: EntrySource;
  /** Whether the whole table is read, for entries that the index by time does not show. */
  readonly scan?: boolean;
  /** Whether to end after the current window. */
  readonly isOver?: () => boolean;
  /** @param fraction of the windows; undefined while the table is read */
  readonly progress?: (fraction: number | undefined, entries: number) => void;
}

export interface Verified {
  readonly windows: number;
  /** How many entries were sealed; one that several windows have counts once. */
  readonly entries: number;
  /** How many of these have left the table because they expired. */
  readonly expired: number;
  /** How many entries of the table are not sealed yet, and the time of the oldest. */
  readonly unsealed: number;
  readonly unsealedSince?: string | undefined;
  /** How many entries of the table are older than an archive whose beginning has left it. */
  readonly unproven: number;
  /** The last window that was verified. */
  readonly newest: SignedDigest | undefined;
  /** Windows that end until then may have left the archive; empty: none may. */
  readonly left: string;
}

/** A digest that was the newest when an archive was verified. */
export interface Remembered {
  readonly file: string;
  readonly sha256: string;
}

export const remember = ({ from, sha256: hash }: SignedDigest): Remembered => ({
  file: digestName(from),
  sha256: hash,
});

/**
 * Compares an archive with the digest that was its newest.
 * @param left windows before this time may have left it
 */
export const compareRemembered = async (
  archive: Archive,
  remembered: Remembered,
  left = '',
): Promise<Finding | undefined> => {
  const { file: subject } = remembered;
  const content = await readFile(archive, subject);
  if (!content) return timeInName(subject) < left ? undefined : { kind: 'shorter', subject };
  const isSame = sha256(content).toString('hex') === remembered.sha256;
  return isSame ? undefined : { kind: 'different', subject };
};

interface Expected {
  readonly now: number;
  /** The end of the wanted time, exclusive; absent: now. */
  readonly until?: string | undefined;
  /** Seconds from one window to the next, by the present setting; absent: unchanged. */
  readonly interval?: number | undefined;
}

/** Milliseconds for which sealing may stand still, however short the windows are. */
const standstill = 300_000;

/** Whether sealing is more than two windows, and five minutes, behind the end of the wanted time. */
export const isBehind = (
  { until: end, interval: before }: SignedDigest,
  { now, until, interval: set = before }: Expected,
): boolean => {
  const interval = Math.max(before, set);
  const allowed = Math.max(3 * interval * 1000 + graceOf(interval), standstill);
  const due = timeBefore(new Date(now).toISOString(), allowed);
  return end < (until !== undefined && until < due ? until : due);
};
