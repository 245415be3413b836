/** What a verification is given, and what it finds (lib/audit/README.md, Verification). */
import type { KeyObject } from 'node:crypto';
import type { Archive } from '../archive/archive.ts';
import type { SignedDigest } from '../archive/digest.ts';
import type { EntrySource } from '../archive/table.ts';

/** What can be found, and what it means. */
export const findingKinds = {
  late: 'came late, and was sealed then',
  changed: 'is not what was sealed',
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
  altered: 'was overwritten or deleted; its first version counts',
  behind: 'is the end of the newest window: sealing has stopped, or digests were taken away',
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

export interface Range {
  /** Windows that begin then; absent: all. */
  readonly since?: string;
  /** Exclusive. */
  readonly until?: string;
  /** Windows that end before then may have left the archive; absent: none may. */
  readonly keptSince?: string | undefined;
}

export interface Verification extends Range {
  readonly archive: Archive;
  readonly publicKey: KeyObject;
  /** Milliseconds since 1970: what has expired by then may have left the table; absent: the clock. */
  readonly now?: number;
  /** Absent: the archive is compared with itself only. */
  readonly source?: EntrySource;
  /** How entries of a time are read of it; absent: all are, past the indexes. */
  readonly entriesBetween?: EntrySource['between'];
  /** @param fraction of the windows; undefined while the table is read */
  readonly progress?: (fraction: number | undefined, entries: number) => void;
}

export interface Verified {
  readonly windows: number;
  /** That were sealed. */
  readonly entries: number;
  /** Of these, how many have left the table because their time was over. */
  readonly expired: number;
  /** Entries of the table that are not, as they are too new. */
  readonly unsealed: number;
  /** Those that are older than the archive, where its beginning has left it: nothing proves them. */
  readonly unproven: number;
  readonly newest: SignedDigest | undefined;
}
