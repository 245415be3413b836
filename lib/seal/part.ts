/** The part of a trail that is verified: its files, by their numbers. */
import { readHeaderOf, type Trail } from './archive.ts';
import { fileName, isSigned, type SignedHeader } from './header.ts';
import { listFiles } from './walk.ts';

/** A part of the trail; absent limits: all of it. */
export interface Part {
  /** The part with this time and all later. */
  readonly since?: string | undefined;
  /** Only the part before this time. */
  readonly until?: string | undefined;
  /** The numbers of the first and of the last file, instead of times. */
  readonly first?: number | undefined;
  readonly last?: number | undefined;
}

/** Whether no limit is given. */
export const isWhole = ({ since, until, first, last }: Part): boolean =>
  [since, until, first, last].every((limit) => limit === undefined);

/** The files of an archive by their numbers, in order. */
export interface Listed {
  readonly numbers: readonly number[];
  /** Of files of which there is more than a first version. */
  readonly altered: ReadonlySet<number>;
}

export const listAll = async (trail: Trail): Promise<Listed> => {
  const numbers: number[] = [];
  const altered = new Set<number>();
  for await (const file of listFiles(trail)) {
    numbers.push(file.number);
    if (file.altered) altered.add(file.number);
  }
  return { numbers: numbers.reverse(), altered };
};

/** Finds the first file from which on something holds, by its header; files without one are passed. */
const findFirst = async (
  trail: Trail,
  numbers: readonly number[],
  holds: (header: SignedHeader) => boolean,
): Promise<number> => {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    let at = middle;
    let header: SignedHeader | undefined;
    for (; at < high && !header; at += 1) {
      const read = await readHeaderOf(trail, fileName(numbers[at] ?? 0));
      if (isSigned(read)) header = read;
    }
    if (header && !holds(header)) low = at;
    else high = middle;
  }
  return low;
};

/** The numbers of the files of a part. */
export const numbersOf = async (
  trail: Trail,
  { numbers }: Listed,
  { since, until, first = 0, last = Number.POSITIVE_INFINITY }: Part,
): Promise<readonly number[]> => {
  const begin = since ? await findFirst(trail, numbers, (header) => header.until > since) : 0;
  const end = until
    ? await findFirst(trail, numbers, ({ from }) => from >= until)
    : numbers.length;
  return numbers.slice(begin, end).filter((number) => number >= first && number <= last);
};

/** The signed file before the one of a number. */
export const findBefore = async (
  trail: Trail,
  { numbers }: Listed,
  number = 0,
): Promise<SignedHeader | undefined> => {
  for (const before of numbers.filter((each) => each < number).reverse()) {
    const header = await readHeaderOf(trail, fileName(before));
    if (isSigned(header)) return header;
  }
  return undefined;
};
