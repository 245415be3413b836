import { faultName } from '../../../lib/errors.ts';
import {
  describeFault,
  type Operation,
  type Operator,
  recordIntention,
  recordOperation,
} from '../audit.ts';
import type { Command, Run } from '../command.ts';
import { explain, Failure } from '../failure.ts';
import { type Input, openInput, readLines } from '../files.ts';
import { type IdList, type Import, importBlock, openIdList } from '../import-block.ts';
import { readBlocks } from '../import-lines.ts';
import { catchInterruption, type Progress, startProgress } from '../terminal.ts';

/** Bytes: several times what a line with the longest fields takes. */
const maxBytes = 16_384;

/** How many users and lines have been processed. */
interface Tally {
  imported: number;
  /** Users whom an earlier run has imported. */
  present: number;
  rejected: number;
}

/** Why an import has ended before the last line. */
interface Stop {
  readonly reason: string;
  /** Details for the audit entry. */
  readonly details?: object;
}

const startImport = (
  operator: Operator,
  tally: Tally,
  ids: IdList,
  progress: Progress,
): Import => ({
  operator,
  imported: (candidate, id) => {
    tally.imported += 1;
    ids.add(candidate, id);
  },
  present: (candidate, id) => {
    tally.present += 1;
    ids.add(candidate, id);
  },
  reject: ({ line, reason }) => {
    tally.rejected += 1;
    progress.line(`Line ${line}: ${reason}.`);
  },
});

/** Imports all lines, until a signal or a fault stops it. */
const importAll = async (
  { chunks, size }: Input,
  { operator, tally, ids }: { operator: Operator; tally: Tally; ids: IdList },
): Promise<Stop | undefined> => {
  const progress = startProgress(process.stderr);
  const interruption = catchInterruption();
  const run = startImport(operator, tally, ids, progress);
  const blocks = readBlocks(readLines(chunks, { maxBytes }), { now: new Date() });
  try {
    for await (const { candidates, rejections, last } of blocks) {
      rejections.forEach(run.reject);
      await importBlock(candidates, run).finally(ids.write);
      const users = (tally.imported + tally.present).toLocaleString('en');
      progress.show(size ? Math.min(1, last.end / size) : undefined, `${users} users`);
      if (interruption.requested) return { reason: `Interrupted after line ${last.number}.` };
    }
    return undefined;
  } catch (error) {
    if (error instanceof Failure) progress.line(error.message);
    return { reason: `Stopped by a fault (${faultName(error)}).`, details: describeFault(error) };
  } finally {
    progress.end();
    interruption.release();
  }
};

const summary = ({ imported, present, rejected }: Tally): string =>
  `Imported: ${imported}. Imported before: ${present}. Lines rejected: ${rejected}.`;

const problemOf = (
  stop: Stop | undefined,
  { rejected }: Tally,
  { listsIds }: { listsIds: boolean },
): string | undefined => {
  const again = `the same command again${listsIds ? ', with another file for --ids' : ''}`;
  if (stop) return `${stop.reason} Run ${again}: users who were imported already are skipped.`;
  if (rejected === 0) return undefined;
  return `The lines above were left out: correct them and run ${again}; users who were imported already are skipped.`;
};

/** Records the beginning. If that fails, nothing is imported and no file is left. */
const begin = async (operation: Operation, ids: IdList): Promise<void> => {
  try {
    await recordIntention({ ...operation, details: { stage: 'begun' } });
  } catch (error) {
    await ids.discard();
    throw error;
  }
};

const run: Run = async ({ operator, operands: [name = ''], options }) => {
  const input = await openInput(name);
  const ids = await openIdList(options.ids);
  const operation = { operator, action: 'CREATE' } as const;
  await begin(operation, ids);

  const tally: Tally = { imported: 0, present: 0, rejected: 0 };
  const stop = await importAll(input, { operator, tally, ids });
  await ids.close();
  console.log(summary(tally));

  const problem = problemOf(stop, tally, { listsIds: options.ids !== undefined });
  const details = { stage: stop ? 'stopped' : 'finished', ...stop?.details, ...tally };
  const result = problem ? 'FAILURE' : 'SUCCESS';
  const recorded = recordOperation({ ...operation, result, details });
  if (!problem) return recorded;
  await recorded.catch((error) => console.error(explain(error)));
  throw new Failure(problem);
};

export const importUsers: Command = {
  summary: 'import users of another system, with their password hashes',
  operands: ['file'],
  options: { '--ids <new file>': 'write old id, new id and email to this file' },
  help: `Each line is a JSON object with name, email, password_hash and, if known, role (user or
admin), created_at, in ISO 8601 or as PostgreSQL prints it, with an offset from UTC, and
email_verified (default: true, where the service verifies addresses). Other fields are ignored; users
get new ids. Hashes are bcrypt hashes ($2a$, $2b$, $2y$, of a cost up to the
service's BCRYPT_COST) or hashes from export-users of this service. A user without such a hash has
null, and sets a password by a reset before logging in. A plain bcrypt hash covers only the first
72 bytes of a password: users with longer ones cannot log in.

  {"name":"Ada","email":"ada@example.com","password_hash":"$2b$10$…"}

Lines that break a rule are reported by their numbers and left out; all others are imported. After
Ctrl-C, a fault or a correction of the reported lines, run the command again: users whom the same
line has imported before are skipped, even if they have logged in or changed their passwords since.

With --ids, a new file that only you can read has one JSON object per line, for each user whom this
run or an earlier one has imported; old_id is the field id of the line:

  {"old_id":"9f1c","new_id":17,"email":"ada@example.com"}`,
  examples: [
    'import-users users.ndjson --stack accounts-production',
    'import-users users.ndjson --ids ids.ndjson --stack accounts-production',
    'import-users users.ndjson --local',
  ],
  run,
};
