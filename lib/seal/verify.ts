/** Verifies an archive by itself and with the table (lib/seal/README.md, Verification). */
import {
  ahead,
  listFiles,
  readContent,
  readHeaderOf,
  readLines,
  type SealedLine,
  type Trail,
} from './archive.ts';
import { Chain } from './chain.ts';
import { Comparison } from './comparison.ts';
import type { Finding } from './finding.ts';
import { isSigned, type SignedHeader } from './header.ts';
import type { Item } from './line.ts';
import type { EntrySource } from './table.ts';
import { findEnd } from './walk.ts';

/** The part of a trail that is verified; without limits, the whole trail. */
interface Part {
  /** Only entries from `since` on and before `until`: the files that have such entries, and all files between them. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  /** The numbers of the first and the last file, instead of times. */
  readonly first?: number;
  readonly last?: number | undefined;
}

export interface Verification extends Trail, Part {
  /** The table; absent: only the archive is verified. */
  readonly source?: EntrySource;
  /** Milliseconds since 1970; absent: the present time. */
  readonly now?: number;
  /** Whether to end after the current file. */
  readonly isOver?: () => boolean;
  /** Receives each line, with the number of its file. */
  readonly seen?: (sealed: SealedLine, number: number) => void;
  /** Receives each entry of the table that belongs to the part. */
  readonly compared?: (item: Item) => void;
  /** @param fraction the verified part of the files; undefined while the table is read */
  readonly progress?: (fraction: number | undefined, entries: number) => void;
}

type Tell = (finding: Finding) => unknown;

export type Verified = Awaited<ReturnType<typeof verifyTrail>>;

/**
 * Verifies an archive, or a part of it. The numbers of files are in memory; an id and a hash of each entry are on the
 * disk.
 * @param tell receives the findings one after another, first the findings about files
 * @returns how many files were verified, the number of the last one, how many entries they have, each counted once, and
 *   how many of these have left the table because they expired; the other fields are as in {@link Chain},
 *   {@link Comparison} and {@link tellUnmatched}
 * @throws errors of archive and table, and of `tell`, `seen` and `progress`
 */
export async function verifyTrail(verification: Verification, tell: Tell) {
  const { source, now = Date.now() } = verification;
  const state = await openState(verification, now);
  const { chain, comparison } = state;
  try {
    await readFiles(state);
    if (source) await compareTable(state, source);
    const expired = source ? comparison.finishSealed() : 0;
    for (const finding of chain.findings()) tell(finding);
    await tellSealed(state, tell);
    const { files, reached: last, left, newest } = chain;
    const { entries, early, earlyIds } = comparison;
    const unmatched = tellUnmatched(state, tell);
    return { files, last, entries, early, earlyIds, expired, ...unmatched, newest, left };
  } finally {
    comparison.close();
  }
}

type State = Awaited<ReturnType<typeof openState>>;

async function openState(verification: Verification, now: number) {
  /** The numbers of all files, in order. */
  const numbers: number[] = [];
  const altered = new Set<number>();
  for await (const file of listFiles(verification)) {
    numbers.push(file.number);
    if (file.altered) altered.add(file.number);
  }
  numbers.reverse();
  const part = await numbersOf(verification, numbers);
  const mostUnsigned = Number.POSITIVE_INFINITY;
  const { newest, look } = await findEnd(verification, now, { mostUnsigned });
  const chain = new Chain(await findBefore(verification, numbers, part[0]), newest, now);
  const comparison = new Comparison(now);
  /** The numbers of the files whose lines were read. */
  const read = new Set<number>();
  return { verification, numbers, altered, part, read, look, chain, comparison };
}

/** The numbers of the files of a part. @param numbers the numbers of the archive's files, in order */
async function numbersOf(
  verification: Verification,
  numbers: readonly number[],
): Promise<readonly number[]> {
  const { since, until, first = 0, last = Number.POSITIVE_INFINITY } = verification;
  if (since === undefined && until === undefined) {
    return numbers.filter((each) => each >= first && each <= last);
  }
  const found: number[] = [];
  const read = (number: number) => readHeaderOf(verification, number);
  for await (const { number, header } of ahead(numbers, read)) {
    if (isSigned(header) && mayHave(verification, header)) found.push(number);
  }
  const [from = Number.POSITIVE_INFINITY, to = 0] = [found[0], found.at(-1)];
  return numbers.filter((each) => each >= from && (each <= to || until === undefined));
}

function mayHave(
  { since = '', until }: Part,
  { from, until: end, oldest, newest }: SignedHeader,
): boolean {
  const isBefore = (time: string) => until === undefined || time < until;
  const hasTime = oldest !== null && isBefore(oldest) && (newest ?? '') >= since;
  return hasTime || (isBefore(from) && end > since);
}

/** The newest signed file before the first file of a part. */
async function findBefore(trail: Trail, numbers: readonly number[], first = 0) {
  for (const before of numbers.filter((each) => each < first).reverse()) {
    const { header } = await readHeaderOf(trail, before);
    if (isSigned(header)) return header;
  }
  return undefined;
}

async function readFiles(state: State): Promise<void> {
  const { verification, altered, part, read, chain, comparison } = state;
  const { seen, progress, isOver } = verification;
  let done = 0;
  for await (const file of ahead(part, (number) => openFile(verification, number))) {
    const { number, header, content } = file;
    chain.step(file, altered.has(number));
    if (isSigned(header) && mayHave(verification, header)) {
      const take = (sealed: SealedLine) => {
        comparison.seal(sealed, header);
        seen?.(sealed, number);
      };
      const wrong = await readLines(verification, header, take, content);
      if (wrong) chain.alter(header, wrong);
      read.add(number);
    }
    done += 1;
    progress?.(done / part.length, comparison.entries);
    if (isOver?.()) return;
  }
}

/** The bytes after the header are read ahead only if they are at most this many. */
const maxAhead = 1_048_576;

/** Reads the header of a file, and the bytes after it if they are to be read ahead. */
async function openFile(verification: Verification, number: number) {
  const file = await readHeaderOf(verification, number);
  const { header } = file;
  const isAhead = isSigned(header) && mayHave(verification, header) && header.length < maxAhead;
  return { ...file, content: isAhead ? await readContent(verification, header) : undefined };
}

async function compareTable(state: State, source: EntrySource): Promise<void> {
  const { verification, comparison, look } = state;
  let read = 0;
  for await (const item of itemsOf(state, source)) {
    comparison.match(item);
    verification.compared?.(item);
    read += 1;
    if (read % 1000 === 0) verification.progress?.(undefined, read);
  }
  await comparison.lookUp(source);
  await lookElsewhere(state);
  if (!comparison.unmatchedBefore('~')) return;
  for await (const item of source.between(look, '~')) comparison.list(item);
}

/** The wanted entries of the table: all entries, or the entries of the part, read through the index. */
function itemsOf({ verification, chain, numbers }: State, source: EntrySource) {
  const { since, until, first, last } = verification;
  if ([since, until, first, last].every((limit) => limit === undefined)) return source.all();
  const from = since ?? chain.first?.from ?? '';
  const isToEnd = chain.reached === numbers.at(-1);
  const end = until ?? (isToEnd ? '~' : (chain.last?.until ?? ''));
  return from < end ? source.between(from, end) : [];
}

/** Looks for entries of the part that its own files lack, in the other files of the archive. */
async function lookElsewhere({ verification, numbers, read, look, chain, comparison }: State) {
  const others = numbers.filter((number) => !read.has(number));
  const isBehind = (number: number) => number > chain.reached;
  // Most of them are in the files after the part, because the index showed them late.
  const inOrder = [...others.filter(isBehind), ...others.filter((each) => !isBehind(each))];
  let wanted = comparison.unmatchedBefore(look);
  if (!wanted) return;
  for await (const { header } of ahead(inOrder, (each) => readHeaderOf(verification, each))) {
    if (!isSigned(header) || !mayHave(wanted, header)) continue;
    await readLines(verification, header, (sealed) => comparison.matchElsewhere(sealed, header));
    wanted = comparison.unmatchedBefore(look);
    if (!wanted) return;
  }
}

/** Reports entries that were changed or deleted, with their sealed lines. */
async function tellSealed({ verification, comparison }: State, tell: Tell): Promise<void> {
  for (const number of comparison.foundIn()) {
    const { header } = await readHeaderOf(verification, number);
    if (!isSigned(header)) continue;
    await readLines(verification, header, (sealed) => {
      const finding = comparison.found(sealed, number);
      if (finding) tell(finding);
    });
  }
  for (const finding of comparison.rest()) tell(finding);
}

/**
 * Judges entries of the table that are in no file.
 * @returns how many wait for the next run, since when the oldest has waited, and how many may have been in files that have
 *   left or cannot be read
 */
function tellUnmatched({ comparison, chain, look }: State, tell: Tell) {
  let [waiting, unproven] = [0, 0];
  let waitingSince: string | undefined;
  for (const { inserted, waits, place } of comparison.unmatched(look)) {
    if (waits) {
      waiting += 1;
      waitingSince = [waits, waitingSince ?? waits].sort()[0];
    } else if (place && chain.mayHold(place.key, place.created_at)) unproven += 1;
    else tell(inserted);
  }
  return { waiting, waitingSince, unproven };
}
