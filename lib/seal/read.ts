/** Reads entries out of the archive, and checks each file while it is read. */
import {
  ahead,
  BrokenTrail,
  isOfContent,
  linesOf,
  type OpenFile,
  readFile,
  readHeaderOf,
  type SealedLine,
  type Trail,
} from './archive.ts';
import { followChain } from './chain.ts';
import { findingKinds } from './finding.ts';
import { fileName, isSigned, type ReadHeader } from './header.ts';
import { listAll } from './part.ts';
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
export interface ReadLine extends SealedLine {
  readonly number: number;
}

/** Whether a file may have wanted entries. */
const isWanted = ({ since = '', until }: Reading, header: ReadHeader): boolean => {
  if (!isSigned(header)) return false;
  if (since === '' && until === undefined) return true;
  const { oldest, newest } = header;
  return oldest !== null && newest !== null && newest >= since && (until ?? '~') > oldest;
};

/** Reads the lines of a file. @throws {BrokenTrail} when they are not as they were sealed */
async function* linesOfFile({ content }: OpenFile, number: number): AsyncGenerator<ReadLine> {
  const broken = () => new BrokenTrail(`file ${number} ${findingKinds.altered}`);
  if (!content) throw broken();
  try {
    for await (const lines of linesOf(content)) {
      for (const line of lines) yield { ...line, number };
    }
  } catch (error) {
    throw isOfContent(error) ? broken() : error;
  } finally {
    await content.close();
  }
}

/**
 * Reads sealed entries of a time, and others of the same files, file by file; an entry can come twice,
 * and then its first line counts.
 * @throws {BrokenTrail} when a file is missing or not as its sealer left it; errors of the archive
 */
export async function* readTrail(reading: Reading): AsyncGenerator<ReadLine> {
  const { now = Date.now(), progress } = reading;
  const { numbers } = await listAll(reading);
  const mostUnsigned = Number.POSITIVE_INFINITY;
  const { newest } = await findEnd(reading, now, { mostUnsigned });
  const chain = followChain(undefined, newest, new Date(now).toISOString());
  const read = async (number: number) => ({
    number,
    header: await readHeaderOf(reading, fileName(number)),
  });
  let done = 0;
  for await (const { number, header } of ahead(numbers, read)) {
    // Where there is another version, the first one counts.
    chain.step({ number }, { header });
    if (isWanted(reading, header)) {
      yield* linesOfFile(await readFile(reading, fileName(number)), number);
    }
    done += 1;
    progress?.(done / numbers.length);
  }
  const [finding] = chain.findings();
  if (finding) throw new BrokenTrail(`${finding.subject} ${findingKinds[finding.kind]}`);
}
