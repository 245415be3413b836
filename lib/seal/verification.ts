/** A verification: what it is given and what it finds; and what is compared with other times. */
import { type Archive, readFile, type SignedArchive } from './archive.ts';
import { digestName, graceOf, type SignedDigest, timeBefore, timeInName } from './digest.ts';
import { sha256 } from './line.ts';
import type { EntrySource } from './table.ts';

/** What can be found, and what it means. */
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
  /** Lines of an entry: as it was sealed, as it is; or what else there is to say. */
  readonly before?: string;
  readonly after?: string;
}

/** Whether a finding says that the trail is not intact. */
export const isFault = ({ kind }: Finding): boolean => kind !== 'late';

export interface Verification extends SignedArchive {
  /** When the first window begins that is verified; absent: the first. */
  readonly since?: string;
  /** Windows that begin then are not verified. */
  readonly until?: string;
  /** Milliseconds since 1970; absent: the clock. */
  readonly now?: number;
  /** Absent: the archive is compared with itself only. */
  readonly source?: EntrySource;
  /** Whether entries are looked for that the index by time does not show: all are read besides. */
  readonly scan?: boolean;
  /** Whether it is to end with the window that was verified last. */
  readonly isOver?: () => boolean;
  /** @param fraction of the windows; undefined while the table is read */
  readonly progress?: (fraction: number | undefined, entries: number) => void;
}

export interface Verified {
  readonly windows: number;
  /** That were sealed, each once for each window that has it. */
  readonly entries: number;
  /** Of these, how many have left the table because their time was over. */
  readonly expired: number;
  /** Entries of the table that are not, as they are too new; and the time of the oldest. */
  readonly unsealed: number;
  readonly unsealedSince?: string | undefined;
  /** Those that are older than the archive, where its beginning has left it: nothing proves them. */
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
 * Whether an archive still has the digest that was its newest.
 * @param left windows of before may have left it
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
  const due = timeBefore(new Date(now).toISOString(), allowed);
  return end < (until !== undefined && until < due ? until : due);
};
