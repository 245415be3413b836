/** Reads entries out of the archive, and checks each file while it is read. */
import {
  ahead,
  BrokenTrail,
  isOfContent,
  linesOf,
  readContent,
  readHeaderOf,
  type SealedLine,
  type Trail,
} from './archive.ts';
import { Chain } from './chain.ts';
import { type Finding, findingKinds } from './finding.ts';
import { isSigned, type SignedHeader } from './header.ts';
import { listAll } from './verify.ts';
import { findEnd } from './walk.ts';

export interface Reading extends Trail {
  /** created_at of the entries that are wanted: inclusive; absent: from the beginning. */
  readonly since?: string | undefined;
  /** Exclusive; absent: to the end. */
  readonly until?: string | undefined;
  /** Milliseconds since 1970; absent: the clock. */
  readonly now?: number;
  /** @param fraction of the files that are read */
  readonly progress?: (fraction: number) => void;
}

/** A sealed line, and the number of its file. */
interface ReadLine extends SealedLine {
  readonly number: number;
}

/** Whether a file may have wanted entries. */
const isWanted = ({ since, until }: Reading, { oldest, newest }: SignedHeader): boolean => {
  if (since === undefined && until === undefined) return true;
  return oldest !== null && newest !== null && newest >= (since ?? '') && oldest < (until ?? '~');
};

/**
 * Reads the lines of a file.
 * @param finding of the files before it
 * @throws {BrokenTrail} when there is one, or they are not as they were sealed
 */
async function* linesOfFile(
  trail: Trail,
  header: SignedHeader,
  finding: Finding | undefined,
): AsyncGenerator<ReadLine> {
  if (finding) throw new BrokenTrail(`${finding.subject} ${findingKinds[finding.kind]}`);
  const { number } = header;
  const broken = () => new BrokenTrail(`file ${number} ${findingKinds.altered}`);
  const content = await readContent(trail, header);
  if (!content) throw broken();
  try {
    for await (const lines of linesOf(content)) for (const line of lines) yield { ...line, number };
  } catch (error) {
    throw isOfContent(error) ? broken() : error;
  }
}

/**
 * Reads sealed entries of a time, and others of the same files, file by file; an entry can come twice,
 * and then its first line counts.
 * @throws {BrokenTrail} when one of these files, or one between them, is missing or not as its sealer
 *   left it; errors of the archive
 */
export async function* readTrail(reading: Reading): AsyncGenerator<ReadLine> {
  const { now = Date.now(), progress } = reading;
  const { numbers } = await listAll(reading);
  const { newest } = await findEnd(reading, now, { mostUnsigned: Number.POSITIVE_INFINITY });
  const read = {
    before: undefined as SignedHeader | undefined,
    chain: undefined as Chain | undefined,
  };
  let done = 0;
  for await (const file of ahead(numbers, (number) => readHeaderOf(reading, number))) {
    const { header } = file;
    const wanted = isSigned(header) && isWanted(reading, header) ? header : undefined;
    if (wanted) read.chain ??= new Chain(read.before, newest, now);
    read.chain?.step(file);
    if (wanted) yield* linesOfFile(reading, wanted, read.chain?.findings()[0]);
    if (isSigned(header)) read.before = header;
    done += 1;
    progress?.(done / numbers.length);
  }
}
