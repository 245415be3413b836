/** Follows the chain of digests from window to window (lib/seal/README.md, Verification). */
import { isDeepStrictEqual } from 'node:util';
import { dayInMilliseconds } from '../time.ts';
import type { StoredWindow } from './archive.ts';
import {
  beginning,
  contradictionsIn,
  endOfTime,
  fingerprintOf,
  linkTo,
  type SignedDigest,
  timeInName,
} from './digest.ts';
import type { Finding, Verification } from './verification.ts';

/** A period for which the archive does not tell what was sealed. */
export interface Gap {
  readonly from: string;
  until: string;
  readonly mayHoldLate: boolean;
  /** Reported unless the windows may have left the archive, which only the end of the chain tells. */
  readonly findings: Finding[];
}

/** The chain as far as it was followed. */
export class Chain {
  /** In the order of discovery. */
  readonly gaps: Gap[] = [];
  newest: SignedDigest | undefined;
  /** Windows that end at this time or before may have left the archive; empty: none may. */
  left = '';
  windows = 0;
  /** The gap of unreadable digests, until one can be read. */
  private open: Gap | undefined;
  /** The ends of windows with altered files, by their beginnings. */
  private readonly altered = new Map<string, string>();
  readonly now: number;
  private readonly key: string;
  private readonly start: string | undefined;

  /** @param start when the first window must begin; absent: at any time */
  constructor(
    { publicKey, now = Date.now() }: Pick<Verification, 'publicKey' | 'now'>,
    start: string | undefined,
    altered: readonly string[] = [],
  ) {
    this.now = now;
    this.key = fingerprintOf(publicKey);
    this.start = start;
    for (const name of altered) this.altered.set(timeInName(name), '');
  }

  /** Follows the chain to the next window, and reports what is wrong with its digest. */
  *step({ name, digest, content }: StoredWindow): Generator<Finding> {
    this.windows += 1;
    if (typeof digest === 'string') {
      this.skip({ kind: digest, subject: name });
      return;
    }
    for (const before of contradictionsIn(digest, this.key, this.now)) {
      yield { kind: 'wrong', subject: name, before };
    }
    const expected = this.newest?.until ?? this.start ?? digest.from;
    this.closeGap(expected, digest.from);
    if (!this.isNext(digest, expected)) yield { kind: 'forked', subject: name };
    this.newest = digest;
    if (this.altered.has(digest.from)) this.altered.set(digest.from, digest.until);
    this.allowLeaving(digest, Date.parse(digest.at));
    if (content === 'unreadable') this.skipEntries(digest);
  }

  /** Whether a digest continues the one before, as far as that is there. */
  private isNext({ from, previous }: SignedDigest, expected: string): boolean {
    const isCut = this.newest === undefined && expected !== beginning;
    if (from !== expected || isCut) return from >= expected;
    return isDeepStrictEqual(previous, linkTo(this.newest));
  }

  /** Records the period without digests before a window, and ends the gap of unreadable ones. */
  private closeGap(expected: string, until: string): void {
    const end = this.open?.from ?? until;
    if (end > expected) {
      const finding = { kind: 'missing', subject: expected, before: `until ${end}` } as const;
      this.gaps.push({ from: expected, until: end, mayHoldLate: true, findings: [finding] });
    }
    if (this.open) this.open.until = until;
    this.open = undefined;
  }

  /** Records that a digest cannot be read. */
  private skip(finding: Finding): void {
    if (!this.open) {
      const from = timeInName(finding.subject);
      this.open = { from, until: endOfTime, mayHoldLate: true, findings: [] };
      this.gaps.push(this.open);
    }
    this.open.findings.push(finding);
  }

  /** Records that the entries of a window cannot be read. */
  private skipEntries({ from, until, entries }: SignedDigest): void {
    const findings = [{ kind: 'unreadable', subject: entries.file } as const];
    this.gaps.push({ from, until, mayHoldLate: entries.late > 0, findings });
  }

  private allowLeaving({ archive_days }: SignedDigest, at: number): void {
    const left =
      archive_days > 0 ? new Date(at - archive_days * dayInMilliseconds).toISOString() : '';
    if (left > this.left) this.left = left;
  }

  /** Ends the chain: its newest digest lets windows leave until now. */
  end(): void {
    if (this.newest) this.allowLeaving(this.newest, this.now);
  }

  /** Whether windows from a time on can tell more about those that were followed. */
  isUnclear(next: string): boolean {
    const end = this.newest?.until ?? this.start ?? '';
    return this.gaps.length > 0 || this.altered.size > 0 || end < next;
  }

  /** Whether the windows of a gap may have left the archive. */
  hasLeft({ until }: Gap): boolean {
    return until <= this.left;
  }

  /** Reports gaps that begin before a time and whose windows may not have left. */
  *findGaps(until = endOfTime): Generator<Finding> {
    for (const gap of this.gaps) if (gap.from < until && !this.hasLeft(gap)) yield* gap.findings;
  }

  /** Reports altered files of windows that may not have left. */
  *findAltered(names: readonly string[]): Generator<Finding> {
    for (const subject of names) {
      const from = timeInName(subject);
      if ((this.altered.get(from) || from) > this.left) yield { kind: 'altered', subject };
    }
  }
}
