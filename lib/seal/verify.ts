/** Verifies an archive by itself and with the table (lib/seal/README.md, Verification). */
import {
  ahead,
  isOfContent,
  linesIn,
  linesOf,
  type OpenFile,
  readFile,
  readHeaderOf,
  type Trail,
} from './archive.ts';
import { followChain } from './chain.ts';
import { type Comparison, openComparison } from './comparison.ts';
import type { Finding, Verified } from './finding.ts';
import { fileName, isSigned, type SignedHeader, type Tally, tallyLine } from './header.ts';
import { idText, isTime, keyOf, sha256 } from './line.ts';
import { findBefore, isWhole, type Listed, listAll, numbersOf, type Part } from './part.ts';
import type { EntrySource } from './table.ts';
import { findEnd } from './walk.ts';

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

/** The state of a verification. */
interface State {
  readonly verification: Verification;
  readonly listed: Listed;
  readonly chain: ReturnType<typeof followChain>;
  readonly comparison: Comparison;
  /** Of the files that were read. */
  files: number;
  last: number;
  early: number;
  first: SignedHeader | undefined;
  newest: SignedHeader | undefined;
}

/** Notes the lines of a file. @returns how its header contradicts them; undefined when it does not */
const noteLines = async (
  state: State,
  header: SignedHeader,
  { content }: OpenFile,
): Promise<string | undefined> => {
  if (!content) return 'Its lines are not those of its header';
  const tally: Tally = { count: 0, oldest: null, newest: null };
  try {
    for await (const lines of linesOf(content)) {
      for (const { line, item } of lines) {
        tallyLine(tally, item);
        state.comparison.seal(line, item, header.number);
        if (keyOf(item) < header.from) state.early += 1;
      }
    }
  } catch (error) {
    if (!isOfContent(error)) throw error;
    return 'Its second part is no gzip of lines';
  }
  const wrong = (['count', 'oldest', 'newest'] as const).find(
    (name) => tally[name] !== header[name],
  );
  return wrong && `${wrong} is ${tally[wrong]}, not ${header[wrong]}`;
};

const takeFile = async (state: State, number: number, file: OpenFile): Promise<void> => {
  const { chain, listed } = state;
  chain.step({ number, altered: listed.altered.has(number) }, file);
  state.last = number;
  const { header } = file;
  if (!isSigned(header)) return;
  const wrong = await noteLines(state, header, file);
  if (wrong) chain.alter(header, wrong, file.hash);
  state.files += 1;
  state.first ??= header;
  state.newest = header;
};

const readFiles = async (state: State, numbers: readonly number[]): Promise<void> => {
  const { verification, comparison } = state;
  const { progress, isOver } = verification;
  const read = async (number: number) => ({
    number,
    file: await readFile(verification, fileName(number)),
  });
  const close = async ({ file }: { file: OpenFile }) => file.content?.close();
  let done = 0;
  for await (const opened of ahead(numbers, read, close)) {
    await takeFile(state, opened.number, opened.file).finally(() => close(opened));
    done += 1;
    progress?.(done / numbers.length, comparison.entries);
    if (isOver?.()) return;
  }
};

/** The wanted entries of the table: all, or those of the part, by the index. */
const itemsOf = ({ verification, first, newest, last, listed }: State, source: EntrySource) => {
  if (isWhole(verification)) return source.all();
  const { since, until } = verification;
  const from = since ?? first?.from ?? '';
  const end = until ?? (last === listed.numbers.at(-1) ? '~' : (newest?.until ?? ''));
  return from < end ? source.between(from, end) : [];
};

/** Whether a file may have lines of some time. @param wanted texts of created_at, which may be no time */
const mayHold = ({ oldest, newest }: SignedHeader, wanted: readonly [string, string]): boolean =>
  !wanted.every(isTime) || ((oldest ?? '~') <= wanted[1] && (newest ?? '') >= wanted[0]);

/** Looks in the other files of the archive for entries of the part that no file of it has. */
const lookElsewhere = async (
  state: State,
  part: readonly number[],
  look: string,
): Promise<void> => {
  const { verification, comparison, listed } = state;
  const seen = new Set(part);
  const others = listed.numbers.filter((number) => !seen.has(number));
  const after = others.findIndex((number) => number > (part.at(-1) ?? 0));
  // Most are in the files behind the part, because the index showed them late.
  const inOrder = after < 0 ? others : [...others.slice(after), ...others.slice(0, after)];
  const read = async (number: number) => readHeaderOf(verification, fileName(number));
  for await (const header of comparison.unmatchedBefore(look) ? ahead(inOrder, read) : []) {
    const wanted = comparison.unmatchedBefore(look);
    if (!wanted) return;
    if (!isSigned(header) || !mayHold(header, wanted)) continue;
    for await (const lines of linesIn(verification, fileName(header.number))) {
      for (const { line, item } of lines) comparison.matchElsewhere(line, item, header.number);
    }
  }
};

/** Compares the table with the lines that were noted. */
const compareTable = async (
  state: State,
  { source, part, look }: { source: EntrySource; part: readonly number[]; look: string },
): Promise<void> => {
  const { verification, comparison } = state;
  let read = 0;
  for await (const item of itemsOf(state, source)) {
    comparison.match(item);
    read += 1;
    if (read % 1000 === 0) verification.progress?.(undefined, read);
  }
  await comparison.lookUp(source);
  await lookElsewhere(state, part, look);
  if (!comparison.unmatchedBefore('~')) return;
  for await (const item of source.between(look, '~')) comparison.list(item);
};

/** Tells of entries that were changed or deleted, with their lines as they were sealed. */
async function* findInFiles({ verification, comparison }: State): AsyncGenerator<Finding> {
  for (const number of comparison.numbers()) {
    for await (const lines of linesIn(verification, fileName(number))) {
      for (const { line, item } of lines) {
        const found = comparison.takeFound(idText(item.id), number);
        if (!found) continue;
        const { kind, after } = found;
        yield { kind, subject: idText(item.id), before: line, ...ofEntry(after) };
      }
    }
  }
  for (const { id, kind, after } of comparison.untold()) {
    yield { kind, subject: id, ...ofEntry(after) };
  }
}

/** What a finding says of the line that an entry has now. */
const ofEntry = (after: string | undefined) =>
  after === undefined ? { sha256: null } : { after, sha256: sha256(after).toString('hex') };

type Waiting = Pick<Verified, 'waiting' | 'waitingSince' | 'unproven'>;

/** Judges entries of the table that no file has. @param look where the next run looks from */
function* judgeUnmatched({ comparison, chain }: State, look: string): Generator<Finding, Waiting> {
  const counts = { waiting: 0, waitingSince: undefined as string | undefined, unproven: 0 };
  for (const entry of comparison.unmatched()) {
    const { id, key, created_at, line } = entry;
    const since = key >= look ? key.slice(0, 24) : comparison.listedSince(id);
    if (since !== undefined && comparison.isTimely(entry)) {
      counts.waiting += 1;
      if (since < (counts.waitingSince ?? '~')) counts.waitingSince = since;
    } else if (comparison.isTimely(entry) && chain.mayHold(key, created_at)) {
      counts.unproven += 1;
    } else {
      yield { kind: 'inserted', subject: id, ...ofEntry(line) };
    }
  }
  return counts;
}

async function* findingsOf(
  state: State,
  { part, look }: { part: readonly number[]; look: string },
): AsyncGenerator<Finding, Pick<Verified, 'expired'> & Waiting> {
  const { verification, chain, comparison } = state;
  const { source } = verification;
  await readFiles(state, part);
  if (source) await compareTable(state, { source, part, look });
  const expired = source ? comparison.finishSealed() : 0;
  yield* chain.findings();
  yield* findInFiles(state);
  return { expired, ...(yield* judgeUnmatched(state, look)) };
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
  const part = await numbersOf(verification, listed, verification);
  const mostUnsigned = Number.POSITIVE_INFINITY;
  const { newest, look } = await findEnd(verification, now, { mostUnsigned });
  const before = await findBefore(verification, listed, part[0]);
  const chain = followChain(before, newest, new Date(now).toISOString());
  const comparison = openComparison(now);
  const counts = { files: 0, last: 0, early: 0, first: undefined, newest: undefined };
  const state: State = { verification, listed, chain, comparison, ...counts };
  try {
    const findings = findingsOf(state, { part, look });
    let step = await findings.next();
    for (; !step.done; step = await findings.next()) await tell(step.value);
    const { files, last, early } = state;
    const { left } = chain;
    return { files, last, early, entries: comparison.entries, ...step.value, newest, left };
  } finally {
    comparison.close();
  }
};
