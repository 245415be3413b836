/** The canonical line of an entry, which is what is sealed (lib/seal/README.md, Lines). */
import { hash } from 'node:crypto';

/** An entry with every attribute that the table has of it; values as lib/seal/table.ts makes them. */
export type Item = Readonly<Record<string, unknown>>;

/** An id as text, whatever its type is. */
export function idText(id: unknown): string {
  return JSON.stringify(id);
}

/** An id as the number that is the key of the table, in text; undefined when it is no number. */
export function numberIn(id: unknown): string | undefined {
  if (typeof id === 'number') return String(id);
  const { N } = (id ?? {}) as { N?: unknown };
  return typeof N === 'string' ? N : undefined;
}

export function sha256(data: string | Uint8Array): Buffer {
  return hash('sha256', data, 'buffer');
}

/** The key under which the index by time has an entry. */
export function keyOf({ created_at_id }: Item): string {
  return typeof created_at_id === 'string' ? created_at_id : '';
}

/** The time that a key of the index begins with; undefined when it begins with none. */
export function timeIn(key: string): string | undefined {
  const time = key.slice(0, 24);
  return isTime(time) ? time : undefined;
}

/** Whether a value is a time of the form of created_at, on a day that exists. */
export function isTime(value: unknown): value is string {
  // A year beyond 9999 is written longer.
  if (typeof value !== 'string' || value.length !== 24) return false;
  const time = Date.parse(value);
  return !Number.isNaN(time) && new Date(time).toISOString() === value;
}

/** An entry as one line of JSON. */
export function lineOf(item: Item): string {
  return jsonOf(item, 1);
}

/**
 * Reads a line.
 * @throws {SyntaxError} when it is not written as {@link lineOf} writes one, or is of no entry
 */
export function readLine(line: string): Item {
  const item: unknown = JSON.parse(line);
  const isItem = typeof item === 'object' && item !== null && Object.hasOwn(item, 'id');
  if (!isItem || jsonOf(item, 1) !== line) throw new SyntaxError('It is not written as a line is');
  return item as Item;
}

/** The most listed ids of one entry that are read, so that no entry keeps a sealer busy. */
const maxListed = 1000;

/** The ids of entries that an entry lists as replayed; none unless `replay-audit` left it. */
export function replayedBy({ action, resource, details }: Item): readonly string[] {
  if (action !== 'CREATE' || resource !== 'audit-logs' || typeof details !== 'string') return [];
  // A match is a member of the object: within a text of JSON the quotation marks would be escaped.
  const [, ids] = /"entries":\[(\d{1,16}(?:,\d{1,16})*)\]/.exec(details) ?? [];
  return (ids?.split(',') ?? []).slice(0, maxListed);
}

/** The most objects and arrays within each other in a line: DynamoDB allows 32 levels, each of which is two here. */
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
