import { faultName } from '../../lib/errors.ts';
import { recordIntention, recordOperation } from './audit.ts';
import type { Run } from './commands.ts';
import { explain, Failure } from './failure.ts';
import { type Input, openInput } from './files.ts';
import { importBlock, type Tally } from './import-block.ts';
import { type Rejection, readBlocks } from './import-lines.ts';
import { catchInterruption } from './interruption.ts';
import { readLines } from './lines.ts';
import { startProgress } from './progress.ts';

/** Bytes: several times what a line with the longest fields takes. */
const maxBytes = 16_384;

/** Imports until the end, a signal or a fault. @returns why it has stopped before the end */
const importAll = async ({ chunks, size }: Input, tally: Tally): Promise<string | undefined> => {
  const progress = startProgress(process.stderr);
  const interruption = catchInterruption();
  const reject = ({ line, reason }: Rejection) => {
    tally.rejected += 1;
    progress.line(`Line ${line}: ${reason}.`);
  };
  const blocks = readBlocks(readLines(chunks, { maxBytes }), { now: new Date() });
  try {
    for await (const { candidates, rejections, last } of blocks) {
      rejections.forEach(reject);
      await importBlock(candidates, tally, reject);
      const users = (tally.imported + tally.present).toLocaleString('en');
      progress.show(size ? Math.min(1, last.end / size) : undefined, `${users} users`);
      if (interruption.requested) return `Interrupted after line ${last.number}.`;
    }
    return undefined;
  } catch (error) {
    return `Stopped by a fault (${faultName(error)}).`;
  } finally {
    progress.end();
    interruption.release();
  }
};

const summary = ({ imported, present, rejected }: Tally): string =>
  `Imported: ${imported}. There already: ${present}. Lines rejected: ${rejected}.`;

const problemOf = (stopped: string | undefined, { rejected }: Tally): string | undefined => {
  if (stopped) return `${stopped} Run the same command again: who is there already is skipped.`;
  if (rejected === 0) return undefined;
  return 'The lines above were left out: correct them and run the same command again, which skips who is there already.';
};

export const run: Run = async ({ author, operands: [name = ''] }) => {
  const input = await openInput(name);
  const operation = { author, action: 'CREATE', resource: 'users' } as const;
  await recordIntention({ ...operation, details: { stage: 'begun' } });

  const tally: Tally = { imported: 0, present: 0, rejected: 0 };
  const stopped = await importAll(input, tally);
  console.log(summary(tally));

  const problem = problemOf(stopped, tally);
  const details = { stage: stopped ? 'stopped' : 'finished', ...tally };
  const recorded = recordOperation({
    ...operation,
    result: problem ? 'FAILURE' : 'SUCCESS',
    details,
  });
  if (!problem) return recorded;
  await recorded.catch((error) => console.error(explain(error)));
  throw new Failure(problem);
};
