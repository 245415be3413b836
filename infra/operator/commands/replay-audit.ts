import * as v from 'valibot';
import { type AuditEntry, actions, results } from '../../../lib/audit/entry.ts';
import { writeEntry } from '../../../lib/audit/record.ts';
import { replayId } from '../../../lib/dynamodb/tables.ts';
import { entryNotWritten } from '../../../lib/ground/log.ts';
import { parseJson } from '../../../lib/ground/rules.ts';
import type { Fields } from '../../../lib/ground/validation.ts';
import { isTime } from '../../../lib/seal/line.ts';
import { type Operator, recordIntention, recordOutcome } from '../audit.ts';
import type { Command, Run } from '../command.ts';
import { explain } from '../failure.ts';
import { type Line, openInput, readLines } from '../files.ts';

/** The most bytes of a line: the bytes of the longest event in CloudWatch Logs. */
const maxBytes = 1_048_576;

const run: Run = async ({ operator, operands: [name = ''] }) => {
  const { chunks } = await openInput(name);
  const tally = { written: 0, ignored: 0, malformed: 0 };
  const stopped = await replayAll(readLines(chunks, { maxBytes }), {
    operator,
    tally,
    line: 0,
    block: [],
  });
  console.log(
    `Entries in the table: ${tally.written}. Other lines: ${tally.ignored}. Malformed: ${tally.malformed}.`,
  );

  await recordOutcome(
    { operator, action: 'CREATE', resource: 'audit-logs', details: tally },
    stopped ?? (tally.malformed ? 'The lines above could not be replayed.' : undefined),
  );
};

export const replayAudit: Command = {
  summary: 'write audit entries from the log that could not be written before',
  operands: ['file'],
  help: `Reads log lines (FILE - is standard input) and writes the entry of each line with the event
${entryNotWritten}. Other lines are ignored. The command can be run again: entries that exist already
are not changed.

From a deployed service, whose output FunctionLogGroupName is GROUP:
  aws logs filter-log-events --log-group-name GROUP --filter-pattern '"${entryNotWritten}"' \\
    --query 'events[].[logStreamName, message]' --output text > lines.log
Check the lines before you replay them, because each function may write any line to that log. The name
of the stream contains the function; the access log, to which no function can write, has the route of
each requestId.`,
  examples: [
    'replay-audit lines.log --stack accounts-production',
    'replay-audit service.log --local',
  ],
  run,
};

/** An entry that could not be written, in the form in which lib/audit/record.ts logs it. */
type UnwrittenEntry = v.InferOutput<typeof form>;

/** The limit is many times the longest text of an entry; an item of the table holds 400 KB. */
const text = v.pipe(v.string(), v.maxBytes(50_000));
const name = v.pipe(text, v.nonEmpty());
/** A part of a key of an index. It must not be longer than the parts that lib writes. */
const key = v.pipe(
  text,
  v.check((value) => [...value].length <= 100),
);
const positive = v.pipe(v.number(), v.safeInteger(), v.minValue(1));
const time = v.pipe(
  v.string(),
  v.check((value: string) => isTime(value)),
);

const form = v.object({
  writeId: name,
  requestId: v.fallback(v.optional(name), undefined),
  expiresAt: v.fallback(v.optional(positive), undefined),
  entry: v.object({
    id: positive,
    user_id: v.nullable(positive),
    action: v.picklist(actions),
    resource: v.pipe(key, v.nonEmpty()),
    resource_id: v.nullable(key),
    ip_address: v.nullable(text),
    user_agent: v.nullable(text),
    result: v.picklist(results),
    details: v.nullable(text),
    created_at: time,
    machine_id: v.exactOptional(positive),
    occurred_at: v.exactOptional(time),
  } satisfies Record<keyof AuditEntry, v.GenericSchema>),
});

interface Replay {
  readonly operator: Operator;
  readonly tally: Record<'written' | 'ignored' | 'malformed', number>;
  /** The number of the last line that was processed. */
  line: number;
  block: (UnwrittenEntry & { readonly line: number })[];
}

/** @returns the reason why the replay has stopped before the end; undefined if it has not */
async function replayAll(lines: AsyncIterable<Line>, replay: Replay): Promise<string | undefined> {
  try {
    for await (const line of lines) await replayLine(line, replay);
    await writeBlock(replay);
    return undefined;
  } catch (error) {
    return `Stopped at line ${replay.line}. ${explain(error)} Run the same command again: nothing is written twice.`;
  }
}

/** The most ids that the entry of a replay may list, because the entry must be short enough to be replayed itself. */
const maxListed = 200;

async function replayLine({ number, text: line = '', fault }: Line, replay: Replay): Promise<void> {
  const { tally, block } = replay;
  const found = fault ? { fault } : parseUnwritten(line);
  if (!found) {
    tally.ignored += 1;
  } else if ('fault' in found) {
    tally.malformed += 1;
    console.error(`Line ${number}: ${found.fault}.`);
  } else {
    block.push({ ...found, line: number });
    if (block.length === maxListed) await writeBlock(replay);
  }
}

/**
 * Parses a log line.
 * @returns the entry in the line; undefined if the line has no entry; a `fault`, which quotes nothing, if the entry is
 *   not complete or not valid
 */
function parseUnwritten(line: string): UnwrittenEntry | { readonly fault: string } | undefined {
  if (!line.includes(entryNotWritten)) return undefined;
  const { success, issues, output } = v.safeParse(form, findObject(line) ?? {});
  if (success)
    return isOver(output.expiresAt) ? { fault: 'has an entry that has expired' } : output;
  const paths = issues.map(({ path = [] }) => path.map(({ key: part }) => String(part)));
  const ofEntry = paths.find(([first]) => first === 'entry');
  if (!ofEntry) return { fault: 'has no writeId' };
  return {
    fault: ofEntry[1]
      ? `has an entry whose ${ofEntry[1]} is not valid`
      : 'has no readable entry: the line may be cut short',
  };
}

/**
 * The logged object in a line: from the first brace that begins a field, such as `{"level"`, to the end of the line.
 * Before the object there may be text of the program that exported the line.
 */
function findObject(line: string): Fields | undefined {
  const start = line.search(/\{\s*"/);
  return start < 0 ? undefined : unwrap(line.slice(start));
}

/** How deeply the logged object may be nested: Lambda's JSON log format wraps it in other objects. */
const maxDepth = 3;

function unwrap(value: unknown, depth = 0): Fields | undefined {
  const parsed = typeof value === 'string' ? parseJson(value) : value;
  if (!isObject(parsed) || depth === maxDepth) return undefined;
  if (parsed.event === entryNotWritten) return parsed;
  // The service logs other events too, and their messages may quote what a client has sent.
  return 'event' in parsed ? undefined : unwrap(parsed.message, depth + 1);
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Milliseconds within which an entry that is written now is sealed. */
const sealingTime = 86_400_000;

/** Whether DynamoDB would soon delete an entry, perhaps before it is sealed. */
function isOver(expiresAt = Number.POSITIVE_INFINITY): boolean {
  return expiresAt * 1000 < Date.now() + sealingTime;
}

/** Milliseconds for which a recorded list of the entries to be written is valid. */
const listTime = 60_000;

async function writeBlock(replay: Replay): Promise<void> {
  const { operator, tally, block } = replay;
  replay.block = [];
  let listed = Number.NEGATIVE_INFINITY;
  for (const [at, { line, entry, ...write }] of block.entries()) {
    replay.line = line;
    if (performance.now() - listed > listTime) {
      await list(
        operator,
        block.slice(at).map(({ entry: { id } }) => id),
      );
      listed = performance.now();
    }
    const { id } = await writeEntry(entry, write);
    // The entry got another id, because another entry had its id.
    if (id !== entry.id) await list(operator, [id]);
    tally.written += 1;
  }
}

/** Records which late entries are about to be written, so that nobody takes them for forged entries. */
function list(operator: Operator, entries: readonly number[]): Promise<void> {
  return recordIntention({
    operator,
    action: 'CREATE',
    resource: 'audit-logs',
    resource_id: replayId,
    details: { entries },
  });
}
