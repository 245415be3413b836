/** The canonical line of an entry, which is sealed (lib/seal/README.md, Lines). */
import { hash } from 'node:crypto';
import { shards } from '../audit/index-keys.ts';
import { hasExpired } from '../audit/retention.ts';

/** An entry with all its attributes in the table; lib/seal/table.ts makes the values. */
export type Item = Readonly<Record<string, unknown>>;

/** An id as text, whatever its type. */
export function idText(id: unknown): string {
  return JSON.stringify(id);
}

/** An id as text if it is a number, and so a key of the table; otherwise undefined. */
export function numberIn(id: unknown): string | undefined {
  if (typeof id === 'number') return String(id);
  const { N } = (id ?? {}) as { N?: unknown };
  return typeof N === 'string' ? N : undefined;
}

export function sha256(data: string | Uint8Array): Buffer {
  return hash('sha256', data, 'buffer');
}

/** The key of an entry in the index by time. */
export function keyOf({ created_at_id }: Item): string {
  return typeof created_at_id === 'string' ? created_at_id : '';
}

/** The time with which a key of the index begins; undefined if it does not begin with a time. */
export function timeIn(key: string): string | undefined {
  const time = key.slice(0, 24);
  return isTime(time) ? time : undefined;
}

/** Whether a value is a time in the form of created_at, on a day that exists. */
export function isTime(value: unknown): value is string {
  // A year beyond 9999 has more digits.
  if (typeof value !== 'string' || value.length !== 24) return false;
  const time = Date.parse(value);
  return !Number.isNaN(time) && new Date(time).toISOString() === value;
}

/** Milliseconds by which the clock of a writer of entries may be ahead. */
const aheadAllowed = 600_000;

/**
 * Whether both times of an entry are valid, and not later than the clock of a service may show by now.
 * @param now milliseconds since 1970
 */
export function isTimely(item: Item, now: number): boolean {
  const times = [timeIn(keyOf(item)), item.created_at];
  return times.every((time) => isTime(time) && Date.parse(time) <= now + aheadAllowed);
}

/** Whether a sealed entry may be gone from the table. @param now milliseconds since 1970 */
export function hasLeft({ created_at, expires_at }: Item, now: number): boolean {
  return isTime(created_at) && hasExpired({ created_at, expires_at }, now);
}

export function lineOf(item: Item): string {
  return jsonOf(item, 1);
}

/**
 * Reads a line.
 * @throws {SyntaxError} if the line differs from what {@link lineOf} writes, or is not of an entry
 */
export function readLine(line: string): Item {
  const item: unknown = JSON.parse(line);
  const isItem = typeof item === 'object' && item !== null && Object.hasOwn(item, 'id');
  if (!isItem || jsonOf(item, 1) !== line) throw new SyntaxError('It is not written as a line is');
  return item as Item;
}

/** The most ids that are read of the list in one entry, so that no entry keeps a sealer busy. */
const maxListed = 1000;

/** The ids of entries that an entry lists as replayed; none unless `replay-audit` wrote the entry. */
export function replayedBy({ action, resource, shard, details }: Item): readonly string[] {
  const isOwn = shards.some((own) => own === shard) && resource === 'audit-logs';
  if (action !== 'CREATE' || !isOwn || typeof details !== 'string') return [];
  // A match is a member of the object, because quotation marks within a text would be escaped.
  const [, ids] = /"entries":\[(\d{1,16}(?:,\d{1,16})*)\]/.exec(details) ?? [];
  return (ids?.split(',') ?? []).slice(0, maxListed);
}

/** The most levels of objects and arrays in a line: DynamoDB allows 32 levels, and each is two levels here. */
const maxDepth = 100;

/** JSON without white space, with the names of each object in the order of their code units. */
function jsonOf(value: unknown, depth: number): string {
  if (typeof value === 'number' && !Number.isSafeInteger(value)) {
    throw new SyntaxError('A line has no number but safe integers');
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (depth > maxDepth) throw new SyntaxError('Values lie too deep');
  if (Array.isArray(value)) return `[${value.map((each) => jsonOf(each, depth + 1)).join(',')}]`;
  let members = '';
  for (const name of Object.keys(value).sort()) {
    const member = jsonOf((value as Item)[name], depth + 1);
    members += `${members && ','}${JSON.stringify(name)}:${member}`;
  }
  return `{${members}}`;
}
