import { hashOf, type ReplayedEntry } from '../../../lib/audit/archive/line.ts';
import { type AuditEntry, actions } from '../../../lib/audit/entry.ts';
import { writeEntry } from '../../../lib/audit/record.ts';
import { type EntryWrite, toItem } from '../../../lib/audit/store.ts';
import { entryNotWritten } from '../../../lib/log.ts';
import { type Operator, recordOperation } from '../audit.ts';
import type { Run } from '../command.ts';
import { explain, Failure } from '../failure.ts';
import { type Line, openInput, readLines } from '../files.ts';

/** An entry that could not be written, as lib/audit/record.ts logs it. */
interface UnwrittenEntry extends EntryWrite {
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
const parseUnwritten = (line: string): UnwrittenEntry | { readonly fault: string } | undefined => {
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

/** Bytes: as much as CloudWatch Logs takes of one event. */
const maxBytes = 1_048_576;

interface Tally {
  written: number;
  ignored: number;
  malformed: number;
}

/** Entries that one entry of a replay lists: it must not grow too long to be replayed itself. */
const maxListed = 200;

/** What has been written and is not listed yet. */
interface Replay {
  readonly operator: Operator;
  readonly tally: Tally;
  listed: ReplayedEntry[];
}

/** Lists what was written, so that it is sealed although it comes late (lib/audit/README.md, Windows). */
const list = async ({ operator, listed: entries }: Replay): Promise<void> =>
  recordOperation({ operator, action: 'CREATE', resource: 'audit-logs', details: { entries } });

const write = async (replay: Replay, { entry, ...kept }: UnwrittenEntry): Promise<void> => {
  const written = await writeEntry(entry, kept);
  replay.tally.written += 1;
  replay.listed.push({ id: written.id, sha256: hashOf(toItem(written, kept)) });
  if (replay.listed.length < maxListed) return;
  await list(replay);
  replay.listed = [];
};

/** Milliseconds within which an entry is sealed that is written now. */
const sealingTime = 86_400_000;

/** DynamoDB would delete it, perhaps before it is sealed. */
const isOver = ({ expiresAt = Number.POSITIVE_INFINITY }: EntryWrite): boolean =>
  expiresAt * 1000 < Date.now() + sealingTime;

const parse = (text: string): ReturnType<typeof parseUnwritten> => {
  const found = parseUnwritten(text);
  return found && 'entry' in found && isOver(found)
    ? { fault: 'has an entry whose time in the table is over' }
    : found;
};

const replayLine = async ({ number, text = '', fault }: Line, replay: Replay): Promise<void> => {
  const { tally } = replay;
  const found = fault ? { fault } : parse(text);
  if (!found) {
    tally.ignored += 1;
  } else if ('fault' in found) {
    tally.malformed += 1;
    console.error(`Line ${number}: ${found.fault}.`);
  } else {
    await write(replay, found);
  }
};

/** @returns why it has stopped before the end */
const replayAll = async (
  lines: AsyncIterable<Line>,
  replay: Replay,
): Promise<string | undefined> => {
  let at = 0;
  try {
    for await (const line of lines) {
      at = line.number;
      await replayLine(line, replay);
    }
    return undefined;
  } catch (error) {
    return `Stopped at line ${at}. ${explain(error)} Run the same command again: what is written already is not written twice.`;
  }
};

export const run: Run = async ({ operator, operands: [name = ''] }) => {
  const { chunks } = await openInput(name);
  const tally: Tally = { written: 0, ignored: 0, malformed: 0 };
  const replay: Replay = { operator, tally, listed: [] };
  const stopped = await replayAll(readLines(chunks, { maxBytes }), replay);
  console.log(
    `Entries in the table: ${tally.written}. Other lines: ${tally.ignored}. Malformed: ${tally.malformed}.`,
  );

  const problem = stopped ?? (tally.malformed ? 'The lines above could not be replayed.' : '');
  const recorded = recordOperation({
    operator,
    action: 'CREATE',
    resource: 'audit-logs',
    result: problem ? 'FAILURE' : 'SUCCESS',
    details: { ...tally, entries: replay.listed },
  });
  if (!problem) return recorded;
  await recorded.catch((error) => console.error(explain(error)));
  throw new Failure(problem);
};
