/** Follows files by their numbers, and reports the files that differ from what was sealed (lib/seal/README.md). */
import type { ReadFile } from './archive.ts';
import type { Finding } from './finding.ts';
import { fileName, isSigned, leftBy, type SignedHeader } from './header.ts';
import { sha256 } from './line.ts';

/** A fault of one file, or of several consecutive files. */
interface Fault {
  readonly kind: 'unsigned' | 'foreign' | 'altered' | 'missing';
  readonly first: number;
  readonly last: number;
  readonly why?: string | undefined;
  /** The SHA-256 of the bytes that were found. */
  readonly hash?: string | undefined;
  /** A key: the fault is excused once files that end at this key, or before it, may have left the archive. */
  readonly excusedAt?: string;
}

/** The files of an archive, or of a part of it, taken in the order of their numbers. */
export class Chain {
  /** How many signed files were taken, and the number of the last file, signed or not. */
  files = 0;
  reached = 0;
  first: SignedHeader | undefined;
  last: SignedHeader | undefined;
  readonly newest: SignedHeader | undefined;
  /** Files that end at or before this time may have left the archive. */
  left: string;
  private readonly faults: Fault[] = [];
  /** The faults of the files after the last signed file; none of these files is signed. */
  private between: Fault[] = [];
  /** Entries with a key before this key may have been in files that are gone. */
  private missing = '';
  /** Entries created at `since` or later, with a key before `until`, may have been in altered files. */
  private altered = { since: '~', until: '' };

  /**
   * @param before the file before the first file to be taken; undefined if that is the first file of the archive
   * @param newest the newest file of the archive @param now milliseconds since 1970
   */
  constructor(before: SignedHeader | undefined, newest: SignedHeader | undefined, now: number) {
    this.last = before;
    this.newest = newest;
    this.left = newest ? leftBy(newest, new Date(now).toISOString()) : '';
  }

  /** Notes that a header names another previous file than the last file taken: files between them may have left. */
  private noteGap({ number, from }: SignedHeader): void {
    const begin = (this.last?.number ?? 0) + 1;
    if (from > this.missing) this.missing = from;
    // A file that is reported as unsigned or foreign may be the missing file.
    if (number - begin > this.between.length || this.between.length === 0) {
      const end = Math.max(number - 1, 1);
      const [first, last] = [Math.min(begin, end), end];
      this.faults.push({ kind: 'missing', first, last, excusedAt: from });
    }
    this.between = this.between.map((each) => (each.hash ? each : { ...each, excusedAt: from }));
  }

  /** Takes the next file. @param isAltered whether the file has more than its first version */
  step({ number, header, hash }: ReadFile, isAltered: boolean): void {
    this.reached = number;
    if (!isSigned(header)) {
      const why = header.key && `It names the key ${header.key}`;
      this.between.push({ kind: header.fault, first: number, last: number, why, hash });
      return;
    }
    const by = leftBy(header, header.at);
    if (by > this.left) this.left = by;
    if (header.previous !== (this.last?.hash ?? null)) this.noteGap(header);
    this.faults.push(...this.between);
    this.between = [];
    this.files += 1;
    this.first ??= header;
    this.last = header;
    const version = 'It was overwritten or deleted; its first version counts';
    if (isAltered) this.addAltered(header, version, header.until);
  }

  private addAltered({ number, sha256: hash }: SignedHeader, why: string, excusedAt = ''): void {
    this.faults.push({ kind: 'altered', first: number, last: number, why, hash, excusedAt });
  }

  /** Notes that the lines of the last file cannot be read, or contradict its header. */
  alter(header: SignedHeader, why: string): void {
    this.addAltered(header, why);
    const { since, until } = this.altered;
    const { oldest, until: end } = header;
    this.altered = {
      since: (oldest ?? '') < since ? (oldest ?? '') : since,
      until: end > until ? end : until,
    };
  }

  /** Whether an entry may have been sealed in a file that is gone or cannot be read. */
  mayHold(key: string, createdAt: string): boolean {
    const { since, until } = this.altered;
    return key < this.missing || (key < until && createdAt >= since);
  }

  findings(): readonly Finding[] {
    const isFault = ({ excusedAt }: Fault) => !excusedAt || excusedAt > this.left;
    return joined([...this.faults, ...this.between].filter(isFault)).map(findingOf);
  }
}

/** Joins faults of the same kind in consecutive files, so that one cause is reported once. */
function joined(faults: readonly Fault[]): readonly Fault[] {
  const all: Fault[] = [];
  for (const fault of faults.toSorted((a, b) => a.first - b.first)) {
    const before = all.at(-1);
    if (before?.kind !== fault.kind || fault.first > before.last + 1) {
      all.push(fault);
      continue;
    }
    const hash = sha256(`${before.hash}${fault.hash}`).toString('hex');
    all[all.length - 1] = { ...before, last: Math.max(before.last, fault.last), hash };
  }
  return all;
}

function findingOf({ kind, first, last, why, hash }: Fault): Finding {
  return {
    kind,
    subject: first === last ? `file ${first} (${fileName(first)})` : `files ${first} to ${last}`,
    count: last - first + 1,
    ...(why === undefined ? {} : { before: why }),
    sha256: hash ?? null,
  };
}
