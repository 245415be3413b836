import { hashOf, type ReplayedEntry } from '../../../lib/audit/archive/line.ts';
import { writeEntry } from '../../../lib/audit/record.ts';
import { type EntryWrite, toItem } from '../../../lib/audit/store.ts';
import { type Author, recordOperation } from '../audit.ts';
import type { Run } from '../command.ts';
import { explain, Failure } from '../failure.ts';
import { openInput } from '../files.ts';
import { type Line, readLines } from '../lines.ts';
import { parseUnwritten, type UnwrittenEntry } from '../replayed-entry.ts';

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
  readonly author: Author;
  readonly tally: Tally;
  listed: ReplayedEntry[];
}

/** Lists what was written, so that it is sealed although it comes late (lib/audit/README.md, Windows). */
const list = async ({ author, listed: entries }: Replay): Promise<void> =>
  recordOperation({ author, action: 'CREATE', resource: 'audit-logs', details: { entries } });

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

export const run: Run = async ({ author, operands: [name = ''] }) => {
  const { chunks } = await openInput(name);
  const tally: Tally = { written: 0, ignored: 0, malformed: 0 };
  const replay: Replay = { author, tally, listed: [] };
  const stopped = await replayAll(readLines(chunks, { maxBytes }), replay);
  console.log(
    `Entries in the table: ${tally.written}. Other lines: ${tally.ignored}. Malformed: ${tally.malformed}.`,
  );

  const problem = stopped ?? (tally.malformed ? 'The lines above could not be replayed.' : '');
  const recorded = recordOperation({
    author,
    action: 'CREATE',
    resource: 'audit-logs',
    result: problem ? 'FAILURE' : 'SUCCESS',
    details: { ...tally, entries: replay.listed },
  });
  if (!problem) return recorded;
  await recorded.catch((error) => console.error(explain(error)));
  throw new Failure(problem);
};
