/** Audit entries as text: JSON, NDJSON, and CSV by RFC 4180. */
import { config, hasMachines } from '../ground/settings.ts';
import type { AuditEntry } from './entry.ts';
import { type AuditPage, attributes, machineAttributes } from './query.ts';

/** An entry as operators export it, with the data that is stored beside the entry. */
export interface ExportedEntry extends AuditEntry {
  readonly request_id: string | null;
  /** The number of the file that first sealed the entry; null if the entry is not sealed. */
  readonly file: number | null;
}

/** The places where a value begins, or where some spreadsheets begin a cell or a row even within quotes. */
const cell = '(?<=^|[,;\\t\\r\\n])';

/**
 * The beginning of a cell that a spreadsheet would run as a formula. The spreadsheet may first remove a tab or a CR.
 */
const formula = new RegExp(`${cell}(?="*[=+\\-@＝＋－＠\\t\\r])`, 'g');

const formats = formatsOf(attributes);

/** The forms in which operators export entries. */
export const exportFormats = formatsOf([...attributes, 'request_id', 'file', ...machineAttributes]);

interface Format<E> {
  readonly head: string;
  readonly line: (entry: E) => string;
}

/** The text of a whole response in each form. */
const pageFormats = {
  json: { head: '{"data":[', line: JSON.stringify, between: ',', end: ']}' },
  ndjson: { ...formats.ndjson, between: '', end: '' },
  csv: { ...formats.csv, between: '', end: '' },
  /** CSV where there are machines. */
  longCsv: { ...formatsOf([...attributes, ...machineAttributes]).csv, between: '', end: '' },
} as const satisfies Record<string, Format<AuditEntry> & Record<'between' | 'end', string>>;

/**
 * Writes as many entries of a page in a format as fit into 4 MB.
 * @returns their text and number, and the place after which the next page begins; undefined when nothing remains
 */
export function writePage(
  format: 'json' | 'ndjson' | 'csv',
  { entries, next, nextAfter }: AuditPage,
) {
  const isLong = format === 'csv' && hasMachines(config);
  const { head, line, between, end } = pageFormats[isLong ? 'longCsv' : format];
  const lines = entries.map((entry) => line(entry));
  const count = countFitting(lines);
  const text = head + lines.slice(0, count).join(between) + end;
  return { text, count, next: count < entries.length ? nextAfter(count) : next };
}

type Value = string | number | boolean | null;

/** @param columns the attributes of an entry that are written, in the order of the entry */
function formatsOf<Column extends string>(columns: readonly Column[]) {
  type Entry = Readonly<Partial<Record<Column, Value>>>;
  return {
    ndjson: { head: '', line: (entry) => `${JSON.stringify(entry)}\n` },
    csv: {
      head: `${columns.join(',')}\r\n`,
      line: (entry) => `${columns.map((column) => toCsv(entry[column])).join(',')}\r\n`,
    },
  } as const satisfies Readonly<Record<string, Format<Entry>>>;
}

function toCsv(value: Value | undefined): string {
  if (typeof value !== 'string') return String(value ?? '');
  const harmless = value.replace(formula, "'");
  if (harmless === value && !/[",;\t\r\n]/.test(value)) return value;
  return `"${harmless.replaceAll('"', '""')}"`;
}

/** The most bytes that a character can take. */
const heaviest = 6;

/** The most bytes of the entries: 4 MB, less the text around the entries. */
const maxWeight = 3_999_000;

/** How many lines fit into 4 MB; at least one. */
function countFitting(lines: readonly string[]): number {
  // This estimate suffices nearly always, and is much faster.
  if (heaviest * lines.reduce((sum, line) => sum + line.length, 0) < maxWeight) return lines.length;
  let weight = 0;
  const tooMany = lines.findIndex((line) => {
    weight += weightOf(line);
    return weight > maxWeight;
  });
  return tooMany < 0 ? lines.length : Math.max(1, tooMany);
}

/** Bytes of a text as JSON, which a function returns to API Gateway: the limit is 6 MB. */
function weightOf(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - 2;
}
