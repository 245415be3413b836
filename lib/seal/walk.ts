/** Reads the files of an archive from the newest back, and finds where the next run of the sealer continues. */
import { BrokenTrail, listFiles, type ReadFile, readHeaderOf, type Trail } from './archive.ts';
import { graceOf, isSigned, lookFrom, type SignedHeader } from './header.ts';

/** The place where a run continues the archive. */
export interface End {
  /** The newest file that the key has signed; absent if there is none. */
  readonly newest: SignedHeader | undefined;
  /** The numbers of the files after it, which are not signed. */
  readonly taken: ReadonlySet<number>;
  /** The key of the index, or the time, from which entries are new. */
  readonly from: string;
  /** The key or time from which a run looks at entries. */
  readonly look: string;
  /** The time up to which a run looks at entries. */
  readonly closed: string;
}

interface Walking {
  /** Seconds from run to run; absent: the interval in the newest file. */
  readonly interval?: number;
  /** Receives each signed file that ends after the place from which the run looks, newest first. */
  readonly passed?: (header: SignedHeader) => Promise<void>;
  readonly mostUnsigned?: number;
}

/**
 * Finds where a run continues: at the end of the newest file that does not end in the future. A file may end there
 * because a clock was ahead.
 * @throws {BrokenTrail} if too many consecutive files are not signed by the key
 */
export async function findEnd(
  trail: Trail,
  now: number,
  { interval, passed, mostUnsigned }: Walking = {},
): Promise<End> {
  const taken = new Set<number>();
  let newest: SignedHeader | undefined;
  let from: string | undefined;
  const seconds = () => interval ?? newest?.interval ?? 60;
  const closed = () => new Date(now - graceOf(seconds())).toISOString();
  /** @returns whether the file ends before the place from which the run looks */
  const pass = (header: SignedHeader): boolean => {
    newest ??= header;
    if (header.until <= closed()) from ??= header.until;
    return from !== undefined && header.until <= lookFrom(from, seconds());
  };
  for await (const { number, header } of walk(trail, mostUnsigned)) {
    if (!isSigned(header)) {
      if (!newest) taken.add(number);
      continue;
    }
    if (pass(header)) break;
    await passed?.(header);
  }
  const look = lookFrom(from ?? '', seconds());
  return { newest, taken, from: from ?? '', look, closed: closed() };
}

/** The most consecutive files that the key has not signed; more cannot be explained as junk. */
const maxUnsigned = 1000;

/**
 * Reads headers, newest first.
 * @throws {BrokenTrail} if too many consecutive files are not signed by the key
 */
export async function* walk(trail: Trail, mostUnsigned = maxUnsigned): AsyncGenerator<ReadFile> {
  let unsigned = 0;
  for await (const { number } of listFiles(trail)) {
    const file = await readHeaderOf(trail, number);
    unsigned = isSigned(file.header) ? 0 : unsigned + 1;
    if (unsigned > mostUnsigned) throw new BrokenTrail(`file ${number} is not signed by the key`);
    yield file;
  }
}
