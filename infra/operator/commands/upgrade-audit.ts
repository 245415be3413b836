import { fillKeys } from '../../../lib/audit/upgrade.ts';
import { recordOperation } from '../audit.ts';
import type { Run } from '../command.ts';
import { explain, Failure } from '../failure.ts';
import { catchInterruption } from '../interruption.ts';
import { startProgress } from '../progress.ts';

interface Tally {
  read: number;
  filled: number;
}

/** @returns why it has stopped before the end */
const fillAll = async (tally: Tally): Promise<string | undefined> => {
  const progress = startProgress(process.stderr);
  const interruption = catchInterruption();
  try {
    for await (const done of fillKeys()) {
      Object.assign(tally, done);
      const [read, filled] = [done.read, done.filled].map((count) => count.toLocaleString('en'));
      progress.show(undefined, `${read} entries read, ${filled} filled in`);
      if (interruption.requested) return 'Interrupted.';
    }
    return undefined;
  } catch (error) {
    return explain(error);
  } finally {
    progress.end();
    interruption.release();
  }
};

export const run: Run = async ({ author }) => {
  const tally: Tally = { read: 0, filled: 0 };
  const stopped = await fillAll(tally);
  console.log(`Entries read: ${tally.read}. Filled in: ${tally.filled}.`);
  const recorded = recordOperation({
    author,
    action: 'UPDATE',
    resource: 'audit-logs',
    result: stopped ? 'FAILURE' : 'SUCCESS',
    details: tally,
  });
  if (!stopped) return recorded;
  await recorded.catch((error) => console.error(explain(error)));
  throw new Failure(`${stopped} Run the same command again: what is filled in stays so.`);
};
