/** Audit entries as text: JSON, NDJSON, and CSV by RFC 4180. */
import type { AuditEntry } from './entry.ts';
import { type AuditPage, attributes } from './store.ts';

interface Format<E> {
  /** What stands before the entries. */
  readonly head: string;
  readonly line: (entry: E) => string;
}

/** The first character of a value that a spreadsheet would take for a formula and run. */
const formula = /^[=+\-@\t\r]/;

type Value = string | number | boolean | null;

const toCsv = (value: Value): string => {
  if (typeof value !== 'string') return String(value ?? '');
  const harmless = formula.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
};

/** @param columns the attributes of an entry that are written, in the order that it has them */
const formatsOf = <Column extends string>(columns: readonly Column[]) => {
  type Entry = Readonly<Record<Column, Value>>;
  return {
    ndjson: { head: '', line: (entry) => `${JSON.stringify(entry)}\n` },
    csv: {
      head: `${columns.join(',')}\r\n`,
      line: (entry) => `${columns.map((column) => toCsv(entry[column])).join(',')}\r\n`,
    },
  } as const satisfies Readonly<Record<string, Format<Entry>>>;
};

const formats = formatsOf(attributes);

/** An entry as an operator gets it, with what is known beside it. */
export interface ExportedEntry extends AuditEntry {
  readonly request_id: string | null;
  /** When the window begins that sealed it; null where none has. */
  readonly window: string | null;
  /** Whether it was sealed in a later window than that of its time; null where it is not sealed. */
  readonly late: boolean | null;
}

/** The forms in which an operator gets entries. */
export const exportFormats = formatsOf([...attributes, 'request_id', 'window', 'late']);

/** The whole of a response in each form that the API answers in. */
const pageFormats = {
  json: { head: '{"data":[', line: JSON.stringify, between: ',', end: ']}' },
  ndjson: { ...formats.ndjson, between: '', end: '' },
  csv: { ...formats.csv, between: '', end: '' },
} as const satisfies Record<string, Format<AuditEntry> & Record<'between' | 'end', string>>;

/** Bytes of a text in JSON, in which a function hands it to API Gateway: 6 MB are the limit. */
const weightOf = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2;

/** The most that a character has of them. */
const heaviest = 6;

/** Bytes of the entries: 4 MB, less what stands around them. */
const maxWeight = 3_999_000;

/** How many lines 4 MB take; always one. */
const countFitting = (lines: readonly string[]): number => {
  // Nearly always, and much faster.
  if (heaviest * lines.reduce((sum, line) => sum + line.length, 0) < maxWeight) return lines.length;
  let weight = 0;
  const tooMany = lines.findIndex((line) => {
    weight += weightOf(line);
    return weight > maxWeight;
  });
  return tooMany < 0 ? lines.length : Math.max(1, tooMany);
};

/** Entries as one text, and how many of them are in it. */
export interface WrittenPage {
  readonly text: string;
  readonly count: number;
  /** The place to go on after; absent when nothing remains. */
  readonly next: string | undefined;
}

/** Writes a page of entries in a format, as far as 4 MB take them. */
export const writePage = (
  format: keyof typeof pageFormats,
  { entries, next, nextAfter }: AuditPage,
): WrittenPage => {
  const { head, line, between, end } = pageFormats[format];
  const lines = entries.map((entry) => line(entry));
  const count = countFitting(lines);
  const text = head + lines.slice(0, count).join(between) + end;
  return { text, count, next: count < entries.length ? nextAfter(count) : next };
};
