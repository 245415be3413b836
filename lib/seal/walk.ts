/** The files of an archive from the newest one back, and where the next run of the sealer goes on. */
import { BrokenTrail, listFiles, type ReadFile, readHeaderOf, type Trail } from './archive.ts';
import { graceOf, isSigned, lookFrom, type SignedHeader } from './header.ts';

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
  readonly passed?: (header: SignedHeader) => Promise<void>;
  readonly mostUnsigned?: number;
}

/**
 * Finds where a run goes on: at the end of the newest file that does not end in the future, because a
 * clock may have been ahead.
 * @throws {BrokenTrail} when too many files one after another are not signed by the key
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
  /** @returns whether the run looks from after the end of the file */
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

/** Files that the key has not signed, one after another: more are no junk. */
const maxUnsigned = 1000;

/**
 * Reads headers, newest first.
 * @throws {BrokenTrail} when too many files one after another are not signed by the key
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
