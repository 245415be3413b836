/** Which files a run of the sealer checks: a part of the newest two days, and of the older files (lib/seal/README.md, Checks). */
import { dayInMilliseconds } from '../ground/time.ts';
import { ahead, numbersIn, readHeaderOf, type Trail } from './archive.ts';
import { type Check, isSigned, timeBefore } from './header.ts';

/** A file, and how many lines its header states; undefined: its header is not signed. */
interface Counted {
  readonly number: number;
  readonly lines: number | undefined;
}

/** The files of two days, and the numbers of the older files, oldest first. */
export interface Split {
  readonly recent: readonly Counted[];
  readonly older: readonly number[];
}

/**
 * The files that belong to a check: the files of two days, back to the newest signed file that ends before them, and all
 * older files.
 * @param at the end of the two days, a time
 * @param last the number of the last file: later ones belong to the next check
 */
export async function splitFiles(trail: Trail, at: string, last: number): Promise<Split> {
  const since = timeBefore(at, 2 * dayInMilliseconds);
  const numbers = (await numbersIn(trail, 0, last)).reverse();
  const recent: Counted[] = [];
  for await (const { number, header } of ahead(numbers, (each) => readHeaderOf(trail, each))) {
    if (isSigned(header) && header.until <= since) break;
    recent.push({ number, lines: linesOf(header) });
  }
  return { recent: recent.reverse(), older: numbers.slice(recent.length).reverse() };
}

/**
 * The numbers of the newest of some files, as many as have a number of lines, or a few more. The file before them is
 * signed, because only a part that has the next signed file too can judge a file that is not signed.
 */
export function newestPart(files: readonly Counted[], lines: number): readonly number[] {
  let [at, sum] = [files.length, 0];
  while (at > 0 && (sum < lines || files[at - 1]?.lines === undefined)) {
    at -= 1;
    sum += files[at]?.lines ?? 0;
  }
  return files.slice(at).map(({ number }) => number);
}

/**
 * The numbers of the first of some files, as many as have a number of lines, or a few more; the last one is signed.
 * @param most how many files they are at most, unless more are needed for the last one to be signed
 */
export async function firstPart(
  trail: Trail,
  numbers: readonly number[],
  lines: number,
  most = Number.POSITIVE_INFINITY,
): Promise<readonly number[]> {
  let [count, sum] = [0, 0];
  for await (const { header } of ahead(numbers, (each) => readHeaderOf(trail, each))) {
    count += 1;
    sum += linesOf(header) ?? 0;
    if ((sum >= lines || count >= most) && isSigned(header)) break;
  }
  return numbers.slice(0, count);
}

/** Days within which the whole archive is checked once, unless it has too many lines. */
const rotation = 30;

/**
 * The older files that belong to a check: a thirtieth of them, plus as many as a day adds. If fewer are left, they
 * begin again: the files that are left were checked a short while ago, among the newest two days.
 * @param last the number of the last older file that was checked
 */
export function olderFiles({ recent, older }: Split, last: number): readonly number[] {
  const count = quotaOf({ recent, older });
  const behind = older.filter((number) => number > last);
  return (behind.length < count ? older : behind).slice(0, count);
}

/** The older files that belong to an unfinished check and were not checked yet. @param part those that were */
export function olderLeft(files: Split, { first, last }: NonNullable<Check['part']>) {
  const done = files.older.filter((number) => first <= number && number <= last).length;
  const behind = files.older.filter((number) => number > last);
  return behind.slice(0, Math.max(0, quotaOf(files) - done));
}

function quotaOf({ recent, older }: Split): number {
  return Math.ceil(older.length / rotation + recent.length / 2);
}

function linesOf(header: Awaited<ReturnType<typeof readHeaderOf>>['header']): number | undefined {
  return isSigned(header) ? header.count : undefined;
}
