import { config, hasSessions } from '../../../lib/ground/settings.ts';
import { raiseSessionEpoch } from '../../../lib/options/sessions/sessions.ts';
import { recordChange, recordIntention } from '../audit.ts';
import { type Command, type Run, requireUser } from '../command.ts';
import { Failure } from '../failure.ts';
import { startProgress } from '../terminal.ts';
import { scanUsers } from './export-users.ts';

const run: Run = async ({ operator, operands: [email = ''] }) => {
  requireSessions();
  const { id } = await requireUser(email);
  const details = { scope: 'all' };
  await recordChange({ operator, action: 'LOGOUT', resource_id: id, details }, () => end(id), {
    check: 'Run the command again: running it twice does no harm.',
  });
};

export const revoke: Command = {
  summary: 'end all sessions of a user',
  operands: ['email'],
  help: `The tokens of the user are refused from now on; the user can log in again, with the same
password. Without sessions (sessionDays=0), a token is valid until it expires; rotate-secret can void
all tokens.`,
  run,
};

const atOnce = 25;

const runForAll: Run = async ({ operator }) => {
  requireSessions();
  const details = { scope: 'everyone' };
  await recordIntention({ operator, action: 'LOGOUT', details });
  const progress = startProgress(process.stderr);
  let count = 0;
  try {
    for await (const users of scanUsers()) {
      for (let from = 0; from < users.length; from += atOnce) {
        await Promise.all(users.slice(from, from + atOnce).map(({ id }) => raiseSessionEpoch(id)));
      }
      count += users.length;
      progress.show(undefined, `${count.toLocaleString('en')} users`);
    }
  } finally {
    progress.end();
  }
  console.log(
    `The sessions of ${count.toLocaleString('en')} users are ended; they can log in again.`,
  );
};

export const revokeAll: Command = {
  summary: 'end all sessions of all users',
  help: `Everyone has to log in again. Run it, for instance, after a table was restored: sessions that
were ended since the backup are open again. If the command stops early, run it again.`,
  run: runForAll,
};

function requireSessions(): void {
  if (hasSessions(config)) return;
  throw new Failure(
    'This service has no sessions, because sessionDays is 0: a token is valid until it expires.',
  );
}

async function end(id: number): Promise<void> {
  if (!(await raiseSessionEpoch(id))) throw new Failure('This user has just been deleted.');
  console.log(`The sessions of user ${id} are ended; the user can log in again.`);
}
