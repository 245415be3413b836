/** The canonical line of an entry, which the seal is about (lib/audit/README.md, Lines). */
import { createHash } from 'node:crypto';
import { auditTable } from '../../dynamodb/tables.ts';
import type { AuditEntry } from '../entry.ts';
import { attributes, indexKeys } from '../store.ts';

/** An entry with all that the table holds of it. */
export type Item = Readonly<Record<string, unknown>>;

/** An id as text, whatever stands in its place. */
export const idText = (id: unknown): string =>
  typeof id === 'string' ? id : (JSON.stringify(id) ?? 'absent');

export const sha256 = (data: string | Uint8Array): Buffer =>
  createHash('sha256').update(data).digest();

/** The keys of all indexes of the table. */
export const indexKeyNames: readonly string[] = [
  ...new Set(
    auditTable.indexes.flatMap(({ partitionKey, sortKey }) => [partitionKey.name, sortKey.name]),
  ),
];

const notBeside = new Set<string>([...attributes, ...indexKeyNames]);

/** An entry as one line of JSON; keys of indexes are left out, as they follow from the rest. */
export const lineOf = (item: Item): string => {
  const fields = attributes.filter((name) => Object.hasOwn(item, name));
  const beside = Object.keys(item).filter((name) => !notBeside.has(name));
  const pairs = (names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, item[name]]));
  return JSON.stringify({ ...pairs(fields), beside: pairs(beside.sort()) });
};

export const hashOf = (item: Item): string => sha256(lineOf(item)).toString('hex');

const lateEnd = ',"late":true}';

/** The same line, of an entry whose time is not of the window that seals it. */
export const markLate = (line: string): string => `${line.slice(0, -1)}${lateEnd}`;

export interface SealedLine {
  readonly id: unknown;
  readonly created_at: unknown;
  /** Seconds since 1970, when the entry leaves the table; undefined where it stays. */
  readonly expires_at: unknown;
  readonly late: boolean;
  /** Without the mark of a late one. */
  readonly line: string;
}

/** Reads a line that was sealed. What is beside an entry ends in two braces: no other ends so. */
export const readLine = (text: string): SealedLine => {
  const late = text.endsWith(lateEnd);
  const line = late ? `${text.slice(0, -lateEnd.length)}}` : text;
  const { id, created_at, beside } = JSON.parse(line);
  return { id, created_at, expires_at: beside?.[auditTable.timeToLive], late, line };
};

/** The keys of indexes that an item lacks, or has otherwise: some query would not show it. */
export const wrongIndexKeys = (item: Item): readonly string[] => {
  const right: Item = indexKeys(item as unknown as AuditEntry);
  return indexKeyNames.filter((name) => item[name] !== right[name]);
};

/** An entry that `replay-audit` wrote, as its own entry lists it. */
export interface ReplayedEntry {
  readonly id: number;
  readonly sha256: string;
}

/** What an entry lists as replayed; nothing unless it is one of `replay-audit`. */
export const replayedBy = ({ action, resource, details }: Item): readonly ReplayedEntry[] => {
  if (action !== 'CREATE' || resource !== 'audit-logs') return [];
  try {
    const { entries } = JSON.parse(String(details));
    return entries.filter(({ id }: ReplayedEntry) => Number.isSafeInteger(id));
  } catch {
    // It has no list.
    return [];
  }
};
