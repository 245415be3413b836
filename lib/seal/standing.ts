/** Findings of earlier checks that still hold, beside the findings of a check (lib/seal/README.md, Checks). */
import { dayInMilliseconds } from '../ground/time.ts';
import { readHeaderOf, type Trail } from './archive.ts';
import { type Check, isSigned, maxNamed, type NamedFinding } from './header.ts';
import { type Item, idText, numberIn } from './line.ts';
import type { EntrySource } from './table.ts';

export type Named = Pick<NamedFinding, 'kind' | 'subject'>;

/** The files and entries that a check has looked at, if earlier findings are about them. */
export interface Covered {
  noteFiles(part: { readonly first: number; readonly last: number }): void;
  noteLine(item: Item): void;
  noteItem(item: Item): void;
  /** Whether the check would have made the same finding again. @throws errors of archive and table */
  has(finding: NamedFinding): Promise<boolean>;
}

export function openCovered(
  before: Check | null,
  { source, ...trail }: Trail & { readonly source: EntrySource },
): Covered {
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
    noteFiles: (part) => void files.push(part),
    noteLine: noteIn(lines),
    noteItem: noteIn(items),
    has: (finding) => (/^\d+$/.test(finding.subject) ? hasEntry(finding) : hasFiles(finding)),
  };
}

/** The most milliseconds for which a finding holds while no check covers its subject. */
const longest = 31 * dayInMilliseconds;

interface Checked {
  /** The outcome before the run. */
  readonly before: Check | null;
  readonly covered: Covered;
  readonly now: Date;
  /** The unfinished check with which the run has gone on, and whether the run has checked the last files. */
  readonly pass: { readonly begun: Check | undefined; readonly isLast: boolean };
}

/**
 * The findings of a run, and the findings of earlier runs that it has not covered.
 * @param found how many findings the run has @param named the first of these findings
 */
export async function findingsOf(
  checked: Checked,
  { found, named }: { found: number; named: readonly Named[] },
): Promise<Pick<Check, 'findings' | 'named' | 'found'>> {
  const { before, now, pass } = checked;
  const at = now.toISOString();
  const own = named.slice(0, maxNamed).map((each) => ({ ...printable(each), at }));
  const earlier: NamedFinding[] = [];
  // If a run that has checked all of the two days does not name all, an earlier finding may be among the others.
  for (const each of found > own.length && isWhole(pass) ? [] : (before?.named ?? [])) {
    if (await stands(each, own, checked)) earlier.push(each);
  }
  // The findings of the earlier parts of a check that are not named.
  const unnamed = pass.begun ? pass.begun.findings - pass.begun.named.length : 0;
  return {
    findings: found + earlier.length + unnamed,
    named: [...own, ...earlier].slice(0, maxNamed),
    found: found > 0 ? at : (before?.found ?? null),
  };
}

/**
 * How many findings of a check are not named, and cannot be among the findings of a later look at the same files.
 * @param found how many findings that look has @param named the first of these findings
 */
export function unnamedBeside(
  before: Check,
  { found, named }: { found: number; named: readonly Named[] },
): number {
  const again = named.filter((each) => isAmong(before.named, printable(each))).length;
  return Math.max(0, before.findings - before.named.length - (found - again));
}

/** Whether the previous check has already named all findings of a check. */
export function isTold(before: Check | null, found: number, named: readonly Named[]): boolean {
  return found <= maxNamed && named.every((each) => isAmong(before?.named ?? [], printable(each)));
}

/** Whether a run has checked all of the two days. */
function isWhole({ begun, isLast }: Checked['pass']): boolean {
  return isLast && !begun;
}

/** Whether an earlier finding still holds although a run has not made it again. */
async function stands(
  finding: NamedFinding,
  own: readonly Named[],
  { covered, now, pass: { begun } }: Checked,
): Promise<boolean> {
  if (isAmong(own, finding)) return false;
  if (Math.abs(now.getTime() - Date.parse(finding.at)) >= longest) return false;
  // Two parts of one check may have lines of the same entry: the part without the fault must not refute the finding.
  if (begun && finding.at >= begun.at) return true;
  return !(await covered.has(finding));
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
  return {
    kind,
    subject: subject.replace(/[^ -~]/g, '?').slice(0, 64),
  };
}

function isAmong(all: readonly Named[], { kind, subject }: Named): boolean {
  return all.some((each) => each.kind === kind && each.subject === subject);
}
