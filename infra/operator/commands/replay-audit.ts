import { writeEntry } from '../../../lib/audit/record.ts';
import { recordOperation } from '../audit.ts';
import type { Run } from '../command.ts';
import { explain, Failure } from '../failure.ts';
import { openInput } from '../files.ts';
import { type Line, readLines } from '../lines.ts';
import { parseUnwritten } from '../replayed-entry.ts';

/** Bytes: as much as CloudWatch Logs takes of one event. */
const maxBytes = 1_048_576;

interface Tally {
  written: number;
  ignored: number;
  malformed: number;
}

const replayLine = async ({ number, text = '', fault }: Line, tally: Tally): Promise<void> => {
  const found = fault ? { fault } : parseUnwritten(text);
  if (!found) {
    tally.ignored += 1;
  } else if ('fault' in found) {
    tally.malformed += 1;
    console.error(`Line ${number}: ${found.fault}.`);
  } else {
    const { entry, ...write } = found;
    await writeEntry(entry, write);
    tally.written += 1;
  }
};

/** @returns why it has stopped before the end */
const replayAll = async (lines: AsyncIterable<Line>, tally: Tally): Promise<string | undefined> => {
  let at = 0;
  try {
    for await (const line of lines) {
      at = line.number;
      await replayLine(line, tally);
    }
    return undefined;
  } catch (error) {
    return `Stopped at line ${at}. ${explain(error)} Run the same command again: what is written already is not written twice.`;
  }
};

export const run: Run = async ({ author, operands: [name = ''] }) => {
  const { chunks } = await openInput(name);
  const tally: Tally = { written: 0, ignored: 0, malformed: 0 };
  const stopped = await replayAll(readLines(chunks, { maxBytes }), tally);
  console.log(
    `Entries in the table: ${tally.written}. Other lines: ${tally.ignored}. Malformed: ${tally.malformed}.`,
  );

  const problem = stopped ?? (tally.malformed ? 'The lines above could not be replayed.' : '');
  const recorded = recordOperation({
    author,
    action: 'CREATE',
    resource: 'audit-logs',
    result: problem ? 'FAILURE' : 'SUCCESS',
    details: tally,
  });
  if (!problem) return recorded;
  await recorded.catch((error) => console.error(explain(error)));
  throw new Failure(problem);
};
