/** Applies the filters that the service does not know to the pages of an export. */
import type { AuditEntry } from '../../../client/paths.ts';
import { passes } from './groups.ts';
import { ownFilters, type TrailState } from './query.ts';

/** A record of CSV (RFC 4180) with its line end, and a field with its delimiter. */
const record = /(?:"(?:[^"]|"")*"|[^"\r])*\r\n/g;
const field = /((?:"(?:[^"]|"")*"|[^",\r])*)(?:,|\r\n)/g;

const fieldsOf = (line: string): readonly string[] =>
  [...line.matchAll(field)].map(([, text = '']) =>
    text.replace(/^"|"$/g, '').replaceAll('""', '"'),
  );

/** A page of an export with only those entries that pass all filters. */
export const keepPassing = (text: string, form: 'csv' | 'ndjson', state: TrailState): string => {
  if (ownFilters(state).length === 0) return text;
  if (form === 'ndjson') {
    const lines = text.split('\n').filter((line) => line && passes(JSON.parse(line), state));
    return lines.map((line) => `${line}\n`).join('');
  }
  const [head = '', ...records] = text.match(record) ?? [];
  const names = fieldsOf(head);
  const entryOf = (line: string) =>
    Object.fromEntries(fieldsOf(line).map((value, index) => [names[index], value || null]));
  const kept = records.filter((line) => passes(entryOf(line) as unknown as AuditEntry, state));
  return [head, ...kept].join('');
};
