/** Follows files by their numbers, and tells which are not as they were sealed (lib/seal/README.md). */
import type { OpenFile } from './archive.ts';
import type { Finding } from './finding.ts';
import { fileName, isSigned, leftBy, type SignedHeader } from './header.ts';
import { sha256 } from './line.ts';
import type { NumberedFile } from './walk.ts';

/** What is wrong with some files one after another. */
interface Fault {
  readonly kind: 'unsigned' | 'foreign' | 'altered' | 'missing';
  readonly first: number;
  readonly last: number;
  readonly why?: string | undefined;
  /** Of what was found. */
  readonly hash?: string | undefined;
  /** It is none when files that end until this key may have left. */
  readonly excusedAt?: string;
}

/** Joins what is wrong with several files one after another. */
const joined = (faults: readonly Fault[]): readonly Fault[] => {
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
};

const findingOf = ({ kind, first, last, why, hash }: Fault): Finding => ({
  kind,
  subject: first === last ? `file ${first} (${fileName(first)})` : `files ${first} to ${last}`,
  count: last - first + 1,
  ...(why === undefined ? {} : { before: why }),
  sha256: hash ?? null,
});

/** Where sealed entries may be that cannot be read. */
interface Unreadable {
  /** Entries with a key before it may have been in files that are not there. */
  missing: string;
  /** Entries of a time from one on, with a key before another one, in files that are altered. */
  since: string;
  until: string;
}

/**
 * Follows files in the order of their numbers.
 * @param before the file before the first one; undefined where that is the first of all
 * @param newest the newest file of the archive @param now as a time
 */
export const followChain = (
  before: SignedHeader | undefined,
  newest: SignedHeader | undefined,
  now: string,
) => {
  const faults: Fault[] = [];
  const unreadable: Unreadable = { missing: '', since: '~', until: '' };
  let left = newest ? leftBy(newest, now) : '';
  let last = before;
  /** Files since the last one that are none. */
  let between: Fault[] = [];

  const leave = (header: SignedHeader) => {
    const by = leftBy(header, header.at);
    if (by > left) left = by;
  };
  /** The header names another file than the last one: some were between them, and may have left. */
  const noteGap = ({ number, from }: SignedHeader) => {
    const first = (last?.number ?? 0) + 1;
    if (from > unreadable.missing) unreadable.missing = from;
    // Where a file is told to be none, it may be the one that is missing.
    if (number - first > between.length || between.length === 0) {
      const end = Math.max(number - 1, 1);
      faults.push({ kind: 'missing', first: Math.min(first, end), last: end, excusedAt: from });
    }
    between = between.map((fault) => (fault.hash ? fault : { ...fault, excusedAt: from }));
  };
  return {
    /** Takes the next file. */
    step: (
      { number, altered }: Pick<NumberedFile, 'number' | 'altered'>,
      { header, hash }: Pick<OpenFile, 'header' | 'hash'>,
    ): void => {
      if (!isSigned(header)) {
        const why = header.key && `It names the key ${header.key}`;
        between.push({ kind: header.fault, first: number, last: number, why, hash });
        return;
      }
      leave(header);
      if (header.previous !== (last?.hash ?? null)) noteGap(header);
      if (altered) {
        const why = 'It was overwritten or deleted; its first version counts';
        const excusedAt = header.until;
        faults.push({
          kind: 'altered',
          first: number,
          last: number,
          why,
          hash: header.hash,
          excusedAt,
        });
      }
      faults.push(...between);
      [last, between] = [header, []];
    },
    /** Notes that the lines of the last file cannot be read, or contradict its header. */
    alter: (
      { number, until, oldest }: SignedHeader,
      why: string,
      hash: string | undefined,
    ): void => {
      faults.push({ kind: 'altered', first: number, last: number, why, hash });
      if ((oldest ?? '') < unreadable.since) unreadable.since = oldest ?? '';
      if (until > unreadable.until) unreadable.until = until;
    },
    get left() {
      return left;
    },
    /** Whether an entry may have been sealed in a file that is not there or cannot be read. */
    mayHold: (key: string, createdAt: string): boolean =>
      key < unreadable.missing || (key < unreadable.until && createdAt >= unreadable.since),
    /** What is wrong with the files. */
    findings: (): readonly Finding[] => {
      const isFault = ({ excusedAt = '' }: Fault) => excusedAt === '' || excusedAt > left;
      return joined([...faults, ...between].filter(isFault)).map(findingOf);
    },
  };
};
