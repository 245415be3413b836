/** The end of a trail: its newest signed file, and where the next run of the sealer goes on. */
import { BrokenTrail, type ListedFile, readHeaderOf, type Trail } from './archive.ts';
import {
  graceOf,
  isSigned,
  lookFrom,
  numberOf,
  type ReadHeader,
  type SignedHeader,
} from './header.ts';

/** A file of an archive whose name has a number. */
export interface NumberedFile extends ListedFile {
  readonly number: number;
}

/** Lists the files of an archive, newest first; other names do not matter. */
export async function* listFiles({ archive }: Trail): AsyncGenerator<NumberedFile> {
  for await (const file of archive.list()) {
    const number = numberOf(file.name);
    if (number !== undefined) yield { ...file, number };
  }
}

export interface WalkedFile extends NumberedFile {
  readonly header: ReadHeader;
}

/** Files without a signed header that are passed one after another: more are no junk. */
const maxUnsigned = 1000;

/**
 * Reads headers, newest first.
 * @throws {BrokenTrail} when too many files one after another have none that the key has signed
 */
export async function* walk(trail: Trail, mostUnsigned = maxUnsigned): AsyncGenerator<WalkedFile> {
  let unsigned = 0;
  for await (const file of listFiles(trail)) {
    const header = await readHeaderOf(trail, file.name);
    unsigned = !isSigned(header) ? unsigned + 1 : 0;
    if (unsigned > mostUnsigned) throw new BrokenTrail(`${file.name} is not signed by the key`);
    yield { ...file, header };
  }
}

/** Where a run goes on. */
export interface End {
  /** The newest file that the key has signed; absent where there is none. */
  readonly newest: SignedHeader | undefined;
  /** The numbers of files behind it, which are not signed. */
  readonly taken: ReadonlySet<number>;
  /** Where new looking begins: a key of the index, or a time. */
  readonly from: string;
  /** Where a run looks from. */
  readonly look: string;
  /** The end of what it looks at. */
  readonly closed: string;
}

interface Walking {
  /** Seconds from run to run; absent: as the newest file says. */
  readonly interval?: number;
  /** Receives each signed file whose end is after where the run looks from, newest first. */
  readonly passed?: (file: WalkedFile) => Promise<unknown>;
  /** Absent: {@link maxUnsigned}. */
  readonly mostUnsigned?: number;
}

/**
 * Finds where a run goes on: at the end of the newest file that does not end in the future, because a
 * clock may have been ahead.
 * @throws {BrokenTrail} when too many files one after another are not signed by the key
 */
export const findEnd = async (
  trail: Trail,
  now: number,
  { interval, passed, mostUnsigned }: Walking = {},
): Promise<End> => {
  const taken = new Set<number>();
  let newest: SignedHeader | undefined;
  let from: string | undefined;
  const closedBy = (seconds: number) => new Date(now - graceOf(seconds)).toISOString();
  const secondsOf = () => interval ?? newest?.interval ?? 60;
  for await (const file of walk(trail, mostUnsigned)) {
    const { header, number } = file;
    if (!isSigned(header)) {
      if (!newest) taken.add(number);
      continue;
    }
    newest ??= header;
    if (header.until <= closedBy(secondsOf())) from ??= header.until;
    if (from !== undefined && header.until <= lookFrom(from, secondsOf())) break;
    await passed?.(file);
  }
  const seconds = secondsOf();
  from ??= '';
  return { newest, taken, from, look: lookFrom(from, seconds), closed: closedBy(seconds) };
};
