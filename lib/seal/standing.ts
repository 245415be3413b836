/** Findings of earlier checks that still hold, beside the findings of a check (lib/seal/README.md, Checks). */
import { dayInMilliseconds } from '../ground/time.ts';
import { readHeaderOf, type Trail } from './archive.ts';
import { type Check, isSigned, maxNamed, type NamedFinding } from './header.ts';
import { type Item, idText, numberIn } from './line.ts';
import type { Pass } from './pass.ts';
import type { EntrySource } from './table.ts';

export type Named = Pick<NamedFinding, 'kind' | 'subject'>;

/** The files and entries that a check has looked at, if earlier findings are about them. */
export function openCovered(
  before: Check | null,
  { source, ...trail }: Trail & { readonly source: EntrySource },
) {
  const wanted = new Set(before?.named.map(({ subject }) => subject));
  const files: { readonly first: number; readonly last: number }[] = [];
  const [lines, items] = [new Set<string>(), new Set<string>()];
  const noteIn = (set: Set<string>) => (item: Item) => {
    const id = idText(item.id);
    if (wanted.has(id)) set.add(id);
  };
  const hasEntry = async ({ kind, subject }: NamedFinding) => {
    if (lines.has(subject) || kind !== 'inserted') return lines.has(subject);
    return items.has(subject) || (await isGone(source, subject));
  };
  const hasFiles = async ({ at, subject }: NamedFinding) => {
    const [, begin, end = begin] = /^files? (\d+)(?: to (\d+))?/.exec(subject) ?? [];
    const isRead = files.some(({ first, last }) => first <= Number(begin) && Number(end) <= last);
    return isRead && !(await isOfLater(trail, Number(end), at));
  };
  return {
    noteFiles: (part: (typeof files)[number]) => void files.push(part),
    noteLine: noteIn(lines),
    noteItem: noteIn(items),
    /** Whether the check would have made the same finding again. @throws errors of archive and table */
    has: (finding: NamedFinding) =>
      /^\d+$/.test(finding.subject) ? hasEntry(finding) : hasFiles(finding),
  };
}

/** The most milliseconds for which a finding holds while no check covers its subject. */
const longest = 31 * dayInMilliseconds;

interface Checked {
  readonly before: Check | null;
  readonly covered: ReturnType<typeof openCovered>;
  readonly now: Date;
  /** When the unfinished check began with which the run has gone on. */
  readonly pass: { readonly begun: Pick<Check, 'at'> | undefined };
}

interface Found {
  readonly found: number;
  /** The first of them. */
  readonly named: readonly Named[];
}

/**
 * The findings of a run, and the findings of earlier runs that it has not covered.
 * @param unnamed how many findings of earlier runs are not named, and are not among these
 */
export async function findingsOf(
  checked: Checked,
  { found, named, unnamed }: Found & { readonly unnamed: number },
): Promise<Pick<Check, 'findings' | 'named' | 'found'>> {
  const { before, now } = checked;
  const at = now.toISOString();
  const own = named.slice(0, maxNamed).map((each) => ({ ...printable(each), at }));
  const earlier: NamedFinding[] = [];
  for (const each of before?.named ?? []) {
    if (await stands(each, own, checked)) earlier.push(each);
  }
  const others = before?.found && isOpen(before.found, now) ? unnamed : 0;
  return {
    findings: found + earlier.length + others,
    named: [...own, ...earlier].slice(0, maxNamed),
    found: found > 0 ? at : (before?.found ?? null),
  };
}

/**
 * How many findings before an ordinary check are not named, and may hold beside the findings of its run. A count cannot
 * tell which findings these are, so that they hold longer rather than shorter than named ones.
 * @param recent how many of the findings are of the newest two days
 */
export function unnamedBefore(
  before: Check | null,
  { found, named, recent }: Found & { readonly recent: number },
  { begun, isLast, files }: Pick<Pass, 'begun' | 'isLast' | 'files'>,
): number {
  const coversAll = isLast && !begun && files.older.length === 0;
  if (!before || coversAll) return 0;
  if (begun && mayHaveUnnamed(before, begun.at)) return unnamedIn(before);
  const older = { found: found - recent, named: named.slice(recent) };
  // The previous check of the two days has named its first findings, but the others it may have counted.
  return Math.max(0, unnamedBeside(before, older) - Math.max(0, recent - maxNamed));
}

/** How many findings of a check are not named, and cannot be among the findings of a later look at the same files. */
export function unnamedBeside(before: Check, { found, named }: Found): number {
  const again = named.filter((each) => isAmong(before.named, printable(each))).length;
  return Math.max(0, unnamedIn(before) - (found - again));
}

export function unnamedIn({ findings, named }: Check): number {
  return findings - named.length;
}

/** Whether a check that began at a time may have findings that are not named: the newest are named first. */
export function mayHaveUnnamed({ named }: Check, since: string): boolean {
  return named.filter(({ at }) => at >= since).length === maxNamed;
}

/** Whether the previous check has already named all findings of a check. */
export function isTold(before: Check | null, found: number, named: readonly Named[]): boolean {
  return found <= maxNamed && named.every((each) => isAmong(before?.named ?? [], printable(each)));
}

/** Whether an earlier finding still holds although a run has not made it again. */
async function stands(
  finding: NamedFinding,
  own: readonly Named[],
  { covered, now, pass: { begun } }: Checked,
): Promise<boolean> {
  if (isAmong(own, finding)) return false;
  if (!isOpen(finding.at, now)) return false;
  // Two parts of one check may have lines of the same entry: the part without the fault must not refute the finding.
  if (begun && finding.at >= begun.at) return true;
  return !(await covered.has(finding));
}

/** Whether a finding of a time may still hold, also if a clock was ahead. */
function isOpen(at: string, now: Date): boolean {
  return Math.abs(now.getTime() - Date.parse(at)) < longest;
}

/** Whether an entry is not in the table, wherever the check has looked. */
async function isGone({ byIds }: EntrySource, id: string): Promise<boolean> {
  const found = await byIds([id]);
  return found.every((item) => numberIn(item.id) !== id);
}

/** Whether the file of a number was written after the finding that it was missing, and so is another file. */
async function isOfLater(trail: Trail, number: number, missed: string): Promise<boolean> {
  const { header } = await readHeaderOf(trail, number);
  return isSigned(header) && header.at >= missed;
}

/** A finding in the form in which a header may name it, whatever the id is. */
function printable({ kind, subject }: Named): Named {
  return { kind, subject: subject.replace(/[^ -~]/g, '?').slice(0, 64) };
}

function isAmong(all: readonly Named[], { kind, subject }: Named): boolean {
  return all.some((each) => each.kind === kind && each.subject === subject);
}
