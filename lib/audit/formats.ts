/** Audit entries as text: NDJSON, and CSV by RFC 4180. */
import { createdAtKey } from '../dynamodb/tables.ts';
import type { AuditEntry } from './entry.ts';
import { auditEntry } from './entry-schema.ts';

interface Format<E> {
  /** What stands before the entries. */
  readonly head: string;
  readonly line: (entry: E) => string;
}

const fields = Object.keys(auditEntry.entries) as (keyof AuditEntry)[];

/** The first character of a value that a spreadsheet would take for a formula and run. */
const formula = /^[=+\-@\t\r]/;

const toCsv = (value: string | number | null): string => {
  if (typeof value !== 'string') return String(value ?? '');
  const harmless = formula.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
};

/** @param columns the fields of an entry that are written, in the order that it has them */
const formatsOf = <Column extends string>(columns: readonly Column[]) => {
  type Entry = Readonly<Record<Column, string | number | null>>;
  return {
    ndjson: { head: '', line: (entry) => `${JSON.stringify(entry)}\n` },
    csv: {
      head: `${columns.join(',')}\r\n`,
      line: (entry) => `${columns.map((column) => toCsv(entry[column])).join(',')}\r\n`,
    },
  } as const satisfies Readonly<Record<string, Format<Entry>>>;
};

export const formats = formatsOf(fields);

/** An entry as an operator gets it, with the id of the request that is kept beside it. */
export interface ExportedEntry extends AuditEntry {
  readonly request_id: string | null;
}

/** The forms in which an operator gets entries. */
export const exportFormats = formatsOf([...fields, 'request_id']);

/** Bytes of a text in JSON, in which a function hands it to API Gateway: 6 MB are the limit. */
const weightOf = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2;

/** Bytes. */
const maxWeight = 4_000_000;

/** Entries as one text, and how many of them are in it. */
export interface WrittenPage {
  readonly text: string;
  readonly count: number;
  /** The sort key to go on after; absent when nothing remains. */
  readonly next?: string | undefined;
}

/** Writes a page of entries in a format, as far as 4 MB take them. */
export const writePage = (
  format: keyof typeof formats,
  { entries, next }: { readonly entries: readonly AuditEntry[]; readonly next?: string },
): WrittenPage => {
  const { head, line } = formats[format];
  const lines: string[] = [];
  let weight = weightOf(head);
  for (const entry of entries) {
    const text = line(entry);
    weight += weightOf(text);
    if (weight > maxWeight) break;
    lines.push(text);
  }
  const count = lines.length;
  const last = count < entries.length ? entries[count - 1] : undefined;
  return { text: head + lines.join(''), count, next: last ? createdAtKey(last) : next };
};
