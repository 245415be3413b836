/** What an export keeps where the service does not know a filter. */
import type { AuditEntry } from '../contract.d.ts';
import { passes } from './groups.ts';
import { ownFilters, type TrailState } from './query.ts';

/** A record of CSV (RFC 4180), and a field of one, each with what ends it. */
const record = /(?:"(?:[^"]|"")*"|[^"\r])*\r\n/g;
const field = /((?:"(?:[^"]|"")*"|[^",\r])*)(?:,|\r\n)/g;

const fieldsOf = (line: string): readonly string[] =>
  [...line.matchAll(field)].map(([, text = '']) =>
    text.replace(/^"|"$/g, '').replaceAll('""', '"'),
  );

/** The lines of a page of an export whose entries pass all filters. */
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
