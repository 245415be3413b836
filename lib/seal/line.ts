/** The canonical line of an entry, which the seal is about (lib/seal/README.md, Lines). */
import { createHash } from 'node:crypto';
import type { AuditEntry } from '../audit/entry.ts';
import { attributes, indexKeys, shards } from '../audit/store.ts';
import { auditTable, createdAtKey } from '../dynamodb/tables.ts';

/** An entry with all that the table holds of it; values as lib/seal/table.ts makes them. */
export type Item = Readonly<Record<string, unknown>>;

/** An id as text, whatever its type is. */
export const idText = (id: unknown): string =>
  typeof id === 'string' ? id : (JSON.stringify(id) ?? 'absent');

/** The text in place of a time; empty where there is none. */
export const timeTextOf = ({ created_at }: Item): string =>
  typeof created_at === 'string' ? created_at : '';

/** An id as the number that is the key of the table, in text; undefined when it is no number. */
export const numberOf = (id: unknown): string | undefined => {
  if (typeof id === 'number') return String(id);
  const { N } = (id ?? {}) as { N?: unknown };
  return typeof N === 'string' ? N : undefined;
};

export const sha256 = (data: string | Uint8Array): Buffer =>
  createHash('sha256').update(data).digest();

const timeForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Whether a value is a time of the form of created_at, on a day that exists. */
export const isTime = (value: unknown): value is string => {
  if (typeof value !== 'string' || !timeForm.test(value)) return false;
  const time = Date.parse(value);
  return !Number.isNaN(time) && new Date(time).toISOString() === value;
};

/** The keys of all indexes of the table. */
export const indexKeyNames: readonly string[] = [
  ...new Set(
    auditTable.indexes.flatMap(({ partitionKey, sortKey }) => [partitionKey.name, sortKey.name]),
  ),
];

const notBeside = new Set<string>([...attributes, ...indexKeyNames]);

/** JSON without white space, with the names of each object in the order of their code units. */
const jsonOf = (value: unknown): string => {
  if (typeof value === 'number' && !Number.isSafeInteger(value)) {
    throw new SyntaxError('A line has no number but safe integers');
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(jsonOf).join(',')}]`;
  const names = Object.keys(value).sort();
  return objectOf(value as Item, names);
};

const objectOf = (item: Item, names: readonly string[]): string =>
  `{${names.map((name) => `${JSON.stringify(name)}:${jsonOf(item[name])}`).join(',')}}`;

/** An entry as one line of JSON; keys of indexes are left out, as they follow from the rest. */
export const lineOf = (item: Item): string => {
  const present = (name: string) => Object.hasOwn(item, name) && item[name] !== undefined;
  const fields = objectOf(item, attributes.filter(present)).slice(0, -1);
  const names = Object.keys(item).filter((name) => present(name) && !notBeside.has(name));
  const comma = fields.length > 1 ? ',' : '';
  return `${fields}${comma}"beside":${objectOf(item, names.sort())}}`;
};

export const hashOfLine = (line: string): string => sha256(line).toString('hex');

export const hashOf = (item: Item): string => hashOfLine(lineOf(item));

const lateEnd = ',"late":true}';

/** Marks the line of an entry that is sealed out of order. */
export const markLate = (line: string): string => `${line.slice(0, -1)}${lateEnd}`;

export interface SealedLine {
  readonly id: unknown;
  readonly created_at: unknown;
  /** When the entry leaves the table, in seconds since 1970; undefined when it stays. */
  readonly expires_at: unknown;
  readonly late: boolean;
  /** Without the mark of a late one. */
  readonly line: string;
}

/**
 * Reads a sealed line. Only the mark of a late entry ends as it does: other lines end in two braces.
 * @throws {SyntaxError} when it is not written as `lineOf` writes one
 */
export const readLine = (text: string): SealedLine => {
  const late = text.endsWith(lateEnd);
  const line = late ? `${text.slice(0, -lateEnd.length)}}` : text;
  const { beside, ...fields }: Item = JSON.parse(line) ?? {};
  const item = { ...fields, ...(beside as Item) };
  if (lineOf(item) !== line) throw new SyntaxError('It is not written as a line is');
  const { id, created_at, [auditTable.timeToLive]: expires } = item;
  return { id, created_at, expires_at: isTime(created_at) ? expires : undefined, late, line };
};

type Ordered = Pick<SealedLine, 'id' | 'created_at'>;

/** The key by which entries are ordered; undefined when id or time is not of its form. */
export const orderOf = ({ id, created_at }: Ordered): string | undefined =>
  typeof id === 'number' && Number.isSafeInteger(id) && id >= 0 && isTime(created_at)
    ? createdAtKey({ id, created_at })
    : undefined;

const allShards = new Set<unknown>(shards);

/** Whether the index by time shows an entry where its fields place it. */
export const isInPlace = (item: Item): boolean =>
  item.created_at_id !== undefined &&
  item.created_at_id === orderOf(item as unknown as Ordered) &&
  allShards.has(item.shard);

/** The index keys that an item lacks or has wrong, so that some query does not show it. */
export const wrongIndexKeys = (item: Item): readonly string[] => {
  const { id, created_at, user_id = null, resource_id = null } = item;
  const isTyped =
    Number.isSafeInteger(id) &&
    Number(id) >= 0 &&
    [created_at, item.action, resource_id ?? ''].every((each) => typeof each === 'string') &&
    (user_id === null || typeof user_id === 'number');
  // Of an entry whose fields have other types no key is right.
  if (!isTyped) return indexKeyNames;
  const right: Item = indexKeys({ ...item, user_id, resource_id } as unknown as AuditEntry);
  return indexKeyNames.filter((name) => item[name] !== right[name]);
};

/** An entry that `replay-audit` wrote, as its own entry lists it. */
export interface ReplayedEntry {
  readonly id: number;
  readonly sha256: string;
}

/** The entries that an entry lists as replayed; none unless `replay-audit` left it. */
export const replayedBy = ({ action, resource, details }: Item): readonly ReplayedEntry[] => {
  if (action !== 'CREATE' || resource !== 'audit-logs' || typeof details !== 'string') return [];
  // Within a text of JSON the quotation marks would be escaped: what matches is an object.
  return [...details.matchAll(/\{"id":(0|[1-9]\d{0,15}),"sha256":"([0-9a-f]{64})"\}/g)]
    .map(([, id, hash = '']) => ({ id: Number(id), sha256: hash }))
    .filter(({ id }) => Number.isSafeInteger(id));
};
