/** A verification: what it is given, what it finds, and how it follows the chain of digests. */
import { isDeepStrictEqual } from 'node:util';
import { type Archive, readFile, type SignedArchive, type StoredWindow } from './archive.ts';
import {
  beginning,
  contradictionsIn,
  digestName,
  endOfTime,
  fingerprintOf,
  graceOf,
  linkTo,
  type SignedDigest,
  timeBefore,
  timeInName,
} from './digest.ts';
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

/** A time of which the archive does not say what was sealed. */
export interface Gap {
  readonly from: string;
  until: string;
  readonly mayHoldLate: boolean;
}

const day = 86_400_000;

/** The chain as far as it was followed. */
export class Walk {
  readonly gaps: Gap[] = [];
  /** Those of the chain after the part that was followed. */
  readonly later: Gap[] = [];
  /** What may have left the archive by rule, which the end of the chain tells: not after a time. */
  private readonly suspects: { readonly finding: Finding; readonly gap: Gap }[] = [];
  /** The gap of digests that cannot be read, until the next that can. */
  private open: Gap | undefined;
  /** Ends of windows of which a file was altered, by their beginnings. */
  private readonly altered = new Map<string, string>();
  /** Of the part that was followed, and of all. */
  newest: SignedDigest | undefined;
  last: SignedDigest | undefined;
  /** Windows that end until then may have left the archive. */
  left = '';
  windows = 0;
  private readonly now: number;
  private readonly key: string;

  constructor(
    { publicKey, now = Date.now() }: Pick<Verification, 'publicKey' | 'now'>,
    altered: readonly string[] = [],
  ) {
    for (const name of altered) this.altered.set(timeInName(name), '');
    this.now = now;
    this.key = fingerprintOf(publicKey);
  }

  /** Notes that nothing is known of a time. */
  suspect(finding: Finding, gap: Gap): void {
    this.gaps.push(gap);
    this.suspects.push({ finding, gap });
  }

  /** Compares a digest with the one before. */
  private *follow(digest: SignedDigest, expected: string): Generator<Finding> {
    const { newest, open } = this;
    const end = open?.from ?? digest.from;
    if (end > expected) this.miss(expected, end);
    const follows = digest.from === expected && isDeepStrictEqual(digest.previous, linkTo(newest));
    const isCut = newest === undefined && expected !== beginning;
    if (digest.from < expected || (digest.from === expected && !follows && !isCut)) {
      yield { kind: 'forked', subject: digestName(digest.from) };
    }
  }

  /** Notes that no digest is there of a time. */
  miss(from: string, until: string): void {
    const finding = { kind: 'missing', subject: from, before: `until ${until}` } as const;
    this.suspect(finding, { from, until, mayHoldLate: true });
  }

  /** Notes that the entries of a window cannot be read. */
  skipEntries({ from, until, entries }: SignedDigest): void {
    const finding = { kind: 'unreadable', subject: entries.file } as const;
    this.suspect(finding, { from, until, mayHoldLate: entries.late > 0 });
  }

  /** Notes where entries cannot be read that are wanted. */
  expectEntries(
    { digest, content }: StoredWindow,
    isWanted: (digest: SignedDigest) => boolean,
  ): void {
    if (typeof digest === 'object' && !content && isWanted(digest)) this.skipEntries(digest);
  }

  private skip({ name, digest }: StoredWindow): void {
    const from = timeInName(name);
    const finding = { kind: digest as Finding['kind'], subject: name };
    const gap = this.open ?? { from, until: endOfTime, mayHoldLate: true };
    if (this.open) this.suspects.push({ finding, gap });
    else this.suspect(finding, gap);
    this.open = gap;
  }

  /** Takes one step along the chain. @param start when its first window must begin; absent: any time */
  *step(window: StoredWindow, start?: string): Generator<Finding> {
    this.windows += 1;
    const { digest } = window;
    if (typeof digest === 'string') {
      this.skip(window);
      return;
    }
    for (const before of contradictionsIn(digest, this.key, this.now)) {
      yield { kind: 'wrong', subject: digestName(digest.from), before };
    }
    const expected = this.newest?.until ?? start;
    if (expected !== undefined) yield* this.follow(digest, expected);
    if (this.open) this.open.until = digest.from;
    this.open = undefined;
    this.newest = digest;
    this.last = digest;
    if (this.altered.has(digest.from)) this.altered.set(digest.from, digest.until);
    this.allowLeaving(digest, Date.parse(digest.at));
  }

  private allowLeaving({ archive_days }: SignedDigest, at: number): void {
    const left = archive_days > 0 ? new Date(at - archive_days * day).toISOString() : '';
    if (left > this.left) this.left = left;
  }

  /** Ends the chain before a window that was not asked for. @returns whether none ends there */
  endBefore(next: string, start: string): boolean {
    if (this.open) this.open.until = next;
    return !this.open && (this.newest?.until ?? start) < next;
  }

  /** Whether what comes after this part of the chain tells more of it. */
  hasSuspects(): boolean {
    return this.suspects.length > 0 || this.altered.size > 0;
  }

  /** Takes into account that nothing comes after. */
  endAll(): void {
    if (this.newest) this.allowLeaving(this.newest, this.now);
  }

  /** Takes over what the chain tells after the part that was followed. */
  learn({ left, newest, gaps }: Walk): void {
    if (left > this.left) this.left = left;
    if (newest) this.allowLeaving(newest, this.now);
    this.later.push(...gaps);
    this.last = newest ?? this.last;
  }

  /** Which of the names of altered files are of windows that must be there. */
  *findAltered(names: readonly string[]): Generator<Finding> {
    for (const subject of names) {
      const from = timeInName(subject);
      const until = this.altered.get(from) || from;
      if (until > this.left) yield { kind: 'altered', subject };
    }
  }

  /** Whether a time is before the windows that must be there. */
  hasLeft({ until }: Gap): boolean {
    return until <= this.left;
  }

  /** What is not there, and not because it has left by rule. */
  *findSuspects(): Generator<Finding> {
    for (const { finding, gap } of this.suspects) if (!this.hasLeft(gap)) yield finding;
  }
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
