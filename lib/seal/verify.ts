/** Verifies an archive by itself and with the table (lib/seal/README.md, Verification). */
import {
  ahead,
  isOfContent,
  linesIn,
  linesOf,
  type ReadFile,
  readContent,
  readHeaderOf,
  type Trail,
} from './archive.ts';
import { Chain } from './chain.ts';
import { Comparison } from './comparison.ts';
import type { Finding, Verified } from './finding.ts';
import { isSigned, type SignedHeader, type Tally, tallyLine } from './header.ts';
import { maxInMemory, type Spool } from './spool.ts';
import type { EntrySource } from './table.ts';
import { findEnd, listFiles } from './walk.ts';

/** The part of a trail that is verified; absent limits: all of it. */
interface Part {
  /** The part with this time and all later. */
  readonly since?: string | undefined;
  /** Only the part before this time. */
  readonly until?: string | undefined;
  /** The numbers of the first and of the last file, instead of times. */
  readonly first?: number;
  readonly last?: number;
}

export interface Verification extends Trail, Part {
  /** The table; absent: only the archive is verified. */
  readonly source?: EntrySource;
  /** Milliseconds since 1970; absent: the clock. */
  readonly now?: number;
  /** Whether to end after the current file. */
  readonly isOver?: () => boolean;
  /** @param fraction of the files; undefined while the table is read */
  readonly progress?: (fraction: number | undefined, entries: number) => void;
}

/** The files of an archive by their numbers, in order. */
interface Listed {
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

/** The numbers of the files of a part: by times, from the first to the last one that has any of it. */
const numbersOf = async (
  verification: Verification,
  { numbers }: Listed,
): Promise<readonly number[]> => {
  const { since = '', until, first = 0, last = Number.POSITIVE_INFINITY } = verification;
  if (!since && until === undefined) return numbers.filter((each) => each >= first && each <= last);
  const found: number[] = [];
  for await (const { number, header } of ahead(numbers, (each) =>
    readHeaderOf(verification, each),
  )) {
    if (isSigned(header) && header.until > since && header.from < (until ?? '~'))
      found.push(number);
  }
  const [from = Number.POSITIVE_INFINITY, to = 0] = [found[0], found.at(-1)];
  return numbers.filter((each) => each >= from && (each <= to || until === undefined));
};

/** The signed file before one of a number. */
const findBefore = async (trail: Trail, { numbers }: Listed, number = 0) => {
  for (const before of numbers.filter((each) => each < number).reverse()) {
    const { header } = await readHeaderOf(trail, before);
    if (isSigned(header)) return header;
  }
  return undefined;
};

/** The state of a verification. */
interface State {
  readonly verification: Verification;
  readonly listed: Listed;
  /** The numbers of the files that are verified. */
  readonly part: readonly number[];
  /** Where the next run looks from. */
  readonly look: string;
  readonly chain: Chain;
  readonly comparison: Comparison;
}

/** A file, and its lines where they are short: then they are read ahead. */
interface OpenFile extends ReadFile {
  readonly content?: Spool | undefined;
}

const openFile = async (trail: Trail, number: number): Promise<OpenFile> => {
  const file = await readHeaderOf(trail, number);
  const isShort = isSigned(file.header) && file.header.length < maxInMemory;
  return isShort ? { ...file, content: await readContent(trail, file.header) } : file;
};

/** Notes the lines of a file. @returns how its header contradicts them; undefined when it does not */
const noteLines = async (
  { verification, comparison }: State,
  header: SignedHeader,
  read: Spool | undefined,
): Promise<string | undefined> => {
  const content = read ?? (await readContent(verification, header));
  if (!content) return 'Its lines are not those of its header';
  const tally: Tally = { count: 0, oldest: null, newest: null };
  try {
    for await (const lines of linesOf(content)) {
      for (const { line, item } of lines) {
        tallyLine(tally, item);
        comparison.seal(line, item, header);
      }
    }
  } catch (error) {
    if (!isOfContent(error)) throw error;
    return 'Its second part is no gzip of lines';
  }
  const wrong = (['count', 'oldest', 'newest'] as const).find(
    (each) => tally[each] !== header[each],
  );
  return wrong && `${wrong} is ${tally[wrong]}, not ${header[wrong]}`;
};

const readFiles = async (state: State): Promise<void> => {
  const { verification, listed, part, chain, comparison } = state;
  const { progress, isOver } = verification;
  let done = 0;
  for await (const file of ahead(part, (number) => openFile(verification, number))) {
    const { number, header, content } = file;
    chain.step(file, listed.altered.has(number));
    const wrong = isSigned(header) ? await noteLines(state, header, content) : undefined;
    if (wrong && isSigned(header)) chain.alter(header, wrong);
    done += 1;
    progress?.(done / part.length, comparison.entries);
    if (isOver?.()) return;
  }
};

/** The wanted entries of the table: all, or those of the part, by the index. */
const itemsOf = ({ verification, chain, listed }: State, source: EntrySource) => {
  const { since, until, first, last } = verification;
  if ([since, until, first, last].every((limit) => limit === undefined)) return source.all();
  const from = since ?? chain.first?.from ?? '';
  const isToEnd = chain.reached === listed.numbers.at(-1);
  const end = until ?? (isToEnd ? '~' : (chain.last?.until ?? ''));
  return from < end ? source.between(from, end) : [];
};

/** Looks in the other files of the archive for entries of the part that no file of it has. */
const lookElsewhere = async ({ verification, listed, part, look, chain, comparison }: State) => {
  const end = chain.reached;
  const seen = new Set(part.filter((number) => number <= end));
  const others = listed.numbers.filter((number) => !seen.has(number));
  // Most are in the files behind the part, because the index showed them late.
  const inOrder = [...others.filter((each) => each > end), ...others.filter((each) => each < end)];
  if (!comparison.hasUnmatched(look)) return;
  for await (const { header } of ahead(inOrder, (each) => readHeaderOf(verification, each))) {
    if (!isSigned(header) || !comparison.mayHave(header, look)) continue;
    for await (const lines of linesIn(verification, header))
      comparison.matchElsewhere(lines, header);
    if (!comparison.hasUnmatched(look)) return;
  }
};

/** Compares the table with the lines that were noted. */
const compareTable = async (state: State, source: EntrySource): Promise<void> => {
  const { verification, comparison, look } = state;
  let read = 0;
  for await (const item of itemsOf(state, source)) {
    comparison.match(item);
    read += 1;
    if (read % 1000 === 0) verification.progress?.(undefined, read);
  }
  await comparison.lookUp(source);
  await lookElsewhere(state);
  if (!comparison.hasUnmatched('~')) return;
  for await (const item of source.between(look, '~')) comparison.list(item);
};

/** Tells of entries that were changed or deleted, with their lines as they were sealed. */
async function* findSealed({ verification, comparison }: State): AsyncGenerator<Finding> {
  for (const number of comparison.foundIn()) {
    const { header } = await readHeaderOf(verification, number);
    if (!isSigned(header)) continue;
    for await (const lines of linesIn(verification, header)) yield* comparison.found(lines, header);
  }
  yield* comparison.rest();
}

type Waiting = Pick<Verified, 'waiting' | 'waitingSince' | 'unproven'>;

/** Judges entries of the table that no file has. */
function* findUnmatched({ comparison, chain, look }: State): Generator<Finding, Waiting> {
  const counts: { -readonly [K in keyof Waiting]: Waiting[K] } = {
    waiting: 0,
    waitingSince: undefined,
    unproven: 0,
  };
  for (const { inserted, waits, place } of comparison.unmatched(look)) {
    if (waits) {
      counts.waiting += 1;
      counts.waitingSince = [waits, counts.waitingSince ?? waits].sort()[0];
    } else if (place && chain.mayHold(place.key, place.created_at)) counts.unproven += 1;
    else yield inserted;
  }
  return counts;
}

async function* findAll(
  state: State,
): AsyncGenerator<Finding, Waiting & Pick<Verified, 'expired'>> {
  const { source } = state.verification;
  await readFiles(state);
  if (source) await compareTable(state, source);
  const expired = source ? state.comparison.finishSealed() : 0;
  yield* state.chain.findings();
  yield* findSealed(state);
  return { expired, ...(yield* findUnmatched(state)) };
}

/**
 * Verifies an archive, or a part of it. Memory holds the numbers of files; the disk an id and a hash of
 * each entry.
 * @param tell receives the findings one after another, those of files first
 * @throws errors of archive, table and `tell`
 */
export const verifyTrail = async (
  verification: Verification,
  tell: (finding: Finding) => unknown,
): Promise<Verified> => {
  const { now = Date.now() } = verification;
  const listed = await listAll(verification);
  const part = await numbersOf(verification, listed);
  const mostUnsigned = Number.POSITIVE_INFINITY;
  const { newest, look } = await findEnd(verification, now, { mostUnsigned });
  const before = await findBefore(verification, listed, part[0]);
  const chain = new Chain(before, newest, now);
  const comparison = new Comparison(now);
  try {
    const findings = findAll({ verification, listed, part, look, chain, comparison });
    let step = await findings.next();
    for (; !step.done; step = await findings.next()) await tell(step.value);
    const { files, reached: last, left } = chain;
    const { entries, early, earlyIds } = comparison;
    return { files, last, entries, early, earlyIds, ...step.value, newest, left };
  } finally {
    comparison.close();
  }
};
