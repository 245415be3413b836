import { actions } from '../../lib/audit/actions.ts';
import type { AuditEntry } from '../../lib/audit/entry.ts';
import type { EntryWrite } from '../../lib/audit/store.ts';
import { entryNotWritten } from '../../lib/audit/unwritten.ts';

/** An entry that could not be written, as lib/audit/record.ts logs it. */
export interface UnwrittenEntry extends EntryWrite {
  readonly entry: AuditEntry;
}

type Fields = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Objects in one another: as Lambda's JSON log format wraps what was logged. */
const maxDepth = 3;

const unwrap = (value: unknown, depth = 0): Fields | undefined => {
  const parsed = typeof value === 'string' ? parseJson(value) : value;
  if (!isObject(parsed) || depth === maxDepth) return undefined;
  if (parsed.event === entryNotWritten) return parsed;
  // A line of another event is the service's own, and its message may quote what a client sent.
  return 'event' in parsed ? undefined : unwrap(parsed.message, depth + 1);
};

/** Braces that are tried as the beginning of the object: a prefix may have some. */
const maxBraces = 16;

/** The logged object in a line, after whatever the exporter put in front. */
const findObject = (line: string): Fields | undefined => {
  let at = line.indexOf('{');
  for (let tried = 0; at >= 0 && tried < maxBraces; tried += 1) {
    const found = unwrap(line.slice(at));
    if (found) return found;
    at = line.indexOf('{', at + 1);
  }
  return undefined;
};

/** Bytes: many times the longest text of an entry. The table takes 400 KB of all together. */
const maxText = 50_000;

const isText = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && Buffer.byteLength(value) <= maxText;

const isTextOrNull = (value: unknown) => value === null || value === '' || isText(value);

/** As long as lib cuts it, because it is the key of an index. */
const isIdOrNull = (value: unknown) =>
  isTextOrNull(value) && (value === null || [...String(value)].length <= 100);

const isTimestamp = (value: unknown) =>
  typeof value === 'string' &&
  /^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/.test(value) &&
  !Number.isNaN(Date.parse(value));

const isPositive = (value: unknown) => Number.isSafeInteger(value) && Number(value) > 0;

const rules: Readonly<Record<keyof AuditEntry, (value: unknown) => boolean>> = {
  id: isPositive,
  user_id: (value) => value === null || isPositive(value),
  action: (value) => actions.some((action) => action === value),
  resource: isText,
  resource_id: isIdOrNull,
  ip_address: isTextOrNull,
  user_agent: isTextOrNull,
  result: (value) => value === 'SUCCESS' || value === 'FAILURE',
  details: isTextOrNull,
  created_at: isTimestamp,
};

/**
 * The entry in a log line; undefined in a line of something else.
 * @returns `fault`, which quotes nothing, for a line that has an entry but not a whole one
 */
export const parseUnwritten = (
  line: string,
): UnwrittenEntry | { readonly fault: string } | undefined => {
  if (!line.includes(entryNotWritten)) return undefined;
  const { writeId, requestId, expiresAt, entry } = findObject(line) ?? {};
  if (!isObject(entry)) return { fault: 'has no readable entry: the line may be cut short' };
  if (!isText(writeId)) return { fault: 'has no writeId' };
  const broken = Object.entries(rules).find(([name, holds]) => !holds(entry[name]));
  if (broken) return { fault: `has an entry whose ${broken[0]} is not valid` };
  const known = Object.keys(rules).map((name) => [name, entry[name]]);
  const request = isText(requestId) ? { requestId } : {};
  const expiry = isPositive(expiresAt) ? { expiresAt: Number(expiresAt) } : {};
  return { writeId, ...request, ...expiry, entry: Object.fromEntries(known) };
};
