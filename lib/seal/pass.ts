/** A check of the newest two days, newest files first, and of older files, in parts from run to run (lib/seal/README.md, Checks). */
import { namedError } from '../ground/errors.ts';
import type { Trail } from './archive.ts';
import type { Check } from './header.ts';
import { timeIn } from './line.ts';
import { firstPart, newestPart, olderFiles, olderLeft, type Split, splitFiles } from './parts.ts';
import { isPartDue, isUnfinished, unfinishedPart } from './schedule.ts';
import type { Verified } from './verify.ts';

export type Verify = (part: { first: number; last?: number | undefined }) => Promise<Verified>;

/** A check that a run begins, or goes on with. */
export interface Pass {
  readonly trail: Trail;
  readonly at: string;
  /** Its outcome so far; undefined: the run begins it. */
  readonly begun: Check | undefined;
  readonly files: Split;
  /** The numbers of the files of the two days that the run checks. */
  readonly part: readonly number[];
  /** Whether these are the last files of the two days. */
  readonly isLast: boolean;
  readonly lines: number;
}

/**
 * The lines that a run checks by default. Their ids and hashes take 67 MB on the disk, where a function of AWS has 512 MB,
 * and a minute or two.
 */
export const defaultLines = 1_000_000;

/**
 * Goes on with the last check, or begins a new one.
 * @param isWanted whether to begin one, if the last one has no file of its two days left
 */
export async function openPass(
  trail: Trail,
  now: Date,
  {
    before,
    isWanted,
    checked: lines = defaultLines,
  }: { before: Check | null; isWanted: boolean; checked: number | undefined },
): Promise<Pass> {
  const passOf = async (at: string, begun?: Check): Promise<Pass> => {
    const { first = Number.POSITIVE_INFINITY, last = Number.POSITIVE_INFINITY } = begun ?? {};
    const files = await splitFiles(trail, at, last);
    const left = files.recent.filter(({ number }) => number < first);
    const part = newestPart(left, lines);
    const isLast = part.length === left.length;
    return { trail, at, begun, files, part, isLast, lines };
  };
  if (before && isUnfinished(before)) {
    const pass = await passOf(before.at, before);
    // If new files began another check before the files of the two days are checked, no check would reach older files.
    if (pass.part.length > 0 || !isWanted) return pass;
  }
  return passOf(now.toISOString());
}

/**
 * Checks the part of the two days.
 * @returns the outcome of the check so far
 * @throws Error `OutOfTime` when there is not enough time for it
 */
export async function checkRecent(
  { at, begun, part }: Pass,
  { verify, isOver }: { verify: Verify; isOver: () => boolean },
) {
  const [first = 1] = part;
  if (begun && part.length === 0) return outcomeOf(begun);
  const { last, entries, newest } = await verify(
    begun ? { first, last: begun.first - 1 } : { first },
  );
  if (isOver()) throw namedError('OutOfTime');
  if (begun) return { ...outcomeOf(begun), first, entries: begun.entries + entries };
  // A full file ends at an entry's key, which need not begin with a time.
  const until = timeIn(newest?.until ?? '') ?? newest?.at ?? at;
  return { at, first, last, until, entries, later: 0 };
}

/**
 * Checks a part of the older files, if one is due.
 * @param before the last part
 * @returns the older files that the check has covered so far; their time tells whether the check is finished
 */
export async function checkOlder(
  { trail, at, begun, files, isLast, lines }: Pass,
  before: Check['part'],
  { verify, interval }: { verify: Verify; interval: number },
): Promise<Check['part']> {
  // Only a part can tell that the check is not finished.
  if (isLast && !begun && !isPartDue(before, interval, new Date(at))) return before;
  const reached = before?.last ?? 0;
  const goesOn = begun?.part ?? undefined;
  const left = goesOn ? olderLeft(files, goesOn) : olderFiles(files, reached);
  const numbers = await firstPart(trail, left, lines);
  const [next, end = next] = [numbers[0], numbers.at(-1)];
  const last = next === undefined ? reached : (await verify({ first: next, last: end })).last;
  const isFinished = isLast && (next === undefined || last === left.at(-1));
  const first = goesOn?.first ?? next ?? 1;
  return { at: isFinished ? at : unfinishedPart(at), first, last };
}

function outcomeOf({ at, first, last, until, entries, later }: Check) {
  return { at, first, last, until, entries, later };
}
