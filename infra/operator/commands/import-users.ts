import { faultName } from '../../../lib/ground/errors.ts';
import { emailKey } from '../../../lib/users/address.ts';
import { useAttributesFile } from '../attributes-file.ts';
import { describeFault, recordIntention, recordOutcome } from '../audit.ts';
import type { Command, Run } from '../command.ts';
import { Failure } from '../failure.ts';
import { exportTo, type Input, type Line, openInput, readLines, type Write } from '../files.ts';
import { type Import, importBlock } from '../import-block.ts';
import { type Candidate, parseLine } from '../import-line.ts';
import { catchInterruption, startProgress } from '../terminal.ts';

interface Tally {
  imported: number;
  /** Users whom an earlier run has imported. */
  present: number;
  rejected: number;
}

const again = 'users who were imported already are skipped.';

const run: Run = async ({ operator, operands: [name = ''], options, target }) => {
  const { ids, attributes } = options;
  useAttributesFile(attributes, target.attributesHash);
  const input = await openInput(name);
  const operation = { operator, action: 'CREATE' } as const;
  const tally: Tally = { imported: 0, present: 0, rejected: 0 };
  const importWith = async (writeIds: Write) => {
    await recordIntention({ ...operation, details: { stage: 'begun' } });
    return importAll(input, { operator, tally, writeIds });
  };
  const stop = await (ids ? exportTo(String(ids), importWith) : importWith(async () => undefined));
  console.log(
    `Imported: ${tally.imported}. Imported before: ${tally.present}. Lines rejected: ${tally.rejected}.`,
  );

  const command = `the same command again${ids ? ', with another file for --ids' : ''}: ${again}`;
  const corrected = `The lines above were left out: correct them and run ${command}`;
  const left = tally.rejected ? corrected : undefined;
  const details = { stage: stop ? 'stopped' : 'finished', ...stop?.details, ...tally };
  await recordOutcome({ ...operation, details }, stop ? `${stop.reason} Run ${command}` : left);
};

export const importUsers: Command = {
  summary: 'import users of another system, with their password hashes',
  operands: ['file'],
  options: {
    '--ids <new file>': 'write old id, new id and email to this file',
    '--attributes <file>': 'the settings of a deployed service that declares attributes of users',
  },
  help: `Each line is a JSON object with name, email, password_hash and email_verified (true or false; it may
be left out, as false, if the service verifies no addresses). Optional fields are role (user or admin),
auditor (true or false), created_at and, for a user who may not log in, suspended_at: times in ISO 8601
or as PostgreSQL prints them, with an offset from UTC; and attributes, an object: those that the
service declares must follow their rules, and others, which must be text, numbers, true or false, are
kept. Other fields are ignored; users get new ids.
Hashes are bcrypt hashes ($2a$, $2b$, $2y$, of a cost up to the service's BCRYPT_COST) or hashes from
export-users of this service. For a user without such a hash write null: the user sets a password by a
reset before the first login. A plain bcrypt hash covers only the first 72 bytes of a password: users
with longer ones cannot log in.

  {"name":"Ada","email":"ada@example.com","password_hash":"$2b$10$…"}

Lines that break a rule are reported by their numbers and left out; all others are imported. After
Ctrl-C, a fault or a correction of the reported lines, run the command again: users whom the same
line has imported before are skipped, even if they have logged in or changed their passwords since.

With --ids, a new file that only you can read gets one JSON object per line, for each user whom this
run or an earlier run imported; old_id is the field id of the line, text or a whole number:

  {"old_id":"9f1c","new_id":17,"email":"ada@example.com"}`,
  examples: [
    'import-users users.ndjson --stack accounts-production',
    'import-users users.ndjson --ids ids.ndjson --stack accounts-production',
    'import-users users.ndjson --local',
  ],
  run,
};

/** The most bytes of a line: several times the size of a line with the longest fields. */
const maxBytes = 16_384;

/** The number of email addresses that one request looks up. */
const blockSize = 100;

/**
 * Imports all lines, until a signal or a fault stops it.
 * @param writeIds writes the old and the new ids, in the order of the lines
 * @returns why it has stopped, with details for the audit entry; undefined if it has not
 */
async function importAll(
  { chunks, size }: Input,
  { operator, tally, writeIds }: Pick<Import, 'operator'> & { tally: Tally; writeIds: Write },
): Promise<{ reason: string; details?: object } | undefined> {
  const progress = startProgress(process.stderr);
  const interruption = catchInterruption();
  const parse = makeParser();
  const block: Candidate[] = [];
  const ids = new Map<number, object>();
  const run: Import = {
    operator,
    stored: ({ line, oldId, user: { email } }, id, outcome) => {
      tally[outcome] += 1;
      ids.set(line, { old_id: oldId, new_id: id, email });
    },
    reject: (line, reason) => {
      tally.rejected += 1;
      progress.line(`Line ${line}: ${reason}.`);
    },
  };
  const take = (line: Line) => {
    if (line.text?.trim() === '') return;
    const parsed = parse(line);
    if ('fault' in parsed) run.reject(line.number, parsed.fault);
    else block.push(parsed);
  };
  const store = async (end?: number) => {
    await importBlock(block.splice(0), run).finally(() => {
      const inOrder = [...ids].sort(([one], [other]) => one - other);
      ids.clear();
      return writeIds(inOrder.map(([, each]) => `${JSON.stringify(each)}\n`).join(''));
    });
    const users = (tally.imported + tally.present).toLocaleString('en');
    progress.show(size && end ? Math.min(1, end / size) : undefined, `${users} users`);
  };
  try {
    for await (const line of readLines(chunks, { maxBytes })) {
      take(line);
      if (block.length === blockSize || interruption.requested) await store(line.end);
      if (interruption.requested) return { reason: `Interrupted after line ${line.number}.` };
    }
    await store();
    return undefined;
  } catch (error) {
    if (error instanceof Failure) progress.line(error.message);
    return { reason: `Stopped by a fault (${faultName(error)}).`, details: describeFault(error) };
  } finally {
    progress.end();
    interruption.release();
  }
}

/** Makes a parser for the lines of one file, in which each email address may appear only once. */
function makeParser() {
  const seen = new Map<string, number>();
  return ({ number, text = '', fault }: Line): Candidate | { readonly fault: string } => {
    const parsed = fault ? { fault } : parseLine(number, text);
    if ('fault' in parsed) return parsed;
    const key = emailKey(parsed.user.email);
    const before = seen.get(key);
    if (before) return { fault: `has the email of line ${before}` };
    seen.set(key, number);
    return parsed;
  };
}
