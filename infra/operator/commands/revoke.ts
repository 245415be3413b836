import { config } from '../../../lib/settings.ts';
import { endSessions } from '../../../lib/users/sessions.ts';
import { recordChange, recordIntention } from '../audit.ts';
import type { Command, Run } from '../command.ts';
import { Failure } from '../failure.ts';
import { startProgress } from '../terminal.ts';
import { requireUser } from '../users.ts';
import { scanUsers } from './export-users.ts';

/** Users whose sessions are ended at the same time. */
const atOnce = 25;

const requireRevocable = (): void => {
  if (config.sessions === 'revocable') return;
  throw new Failure(
    'Sessions are stateless in this service: a token is valid until it expires. Sessions can be ended only with the setting sessions=revocable.',
  );
};

const end = async (id: number): Promise<void> => {
  if (!(await endSessions(id))) throw new Failure('This user has just been deleted.');
  console.log(`The sessions of user ${id} are ended; the user can log in again.`);
};

/** Ends all sessions of a user. */
const run: Run = async ({ operator, operands: [email = ''] }) => {
  requireRevocable();
  const { id } = await requireUser(email);
  const details = { scope: 'all' };
  await recordChange({ operator, action: 'LOGOUT', resource_id: id, details }, () => end(id), {
    check: 'Run the command again: running it twice does no harm.',
  });
};

/** Ends all sessions of all users. */
const runForAll: Run = async ({ operator }) => {
  requireRevocable();
  const details = { scope: 'everyone' };
  await recordIntention({ operator, action: 'LOGOUT', details });
  const progress = startProgress(process.stderr);
  let count = 0;
  try {
    for await (const users of scanUsers()) {
      for (let from = 0; from < users.length; from += atOnce) {
        await Promise.all(users.slice(from, from + atOnce).map(({ id }) => endSessions(id)));
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

export const revoke: Command = {
  summary: 'end all sessions of a user',
  operands: ['email'],
  help: `The tokens of the user are refused from now on; the user can log in again, with the same
password. Only revocable sessions can be ended so: stateless ones end when their tokens expire, or
all at once by rotate-secret, after a leak of the secret.`,
  run,
};

export const revokeAll: Command = {
  summary: 'end all sessions of all users',
  help: `Everyone has to log in again: for instance after a table was restored, which brings back
sessions that were ended since. If the command stops early, run it again. Stateless sessions cannot be
ended so.`,
  run: runForAll,
};
