import { config } from '../../../lib/settings.ts';
import { endSessions } from '../../../lib/users/sessions.ts';
import { recordChange } from '../audit.ts';
import type { Run } from '../command.ts';
import { Failure } from '../failure.ts';
import { requireUser } from '../users.ts';

const end = async (id: number): Promise<void> => {
  if (!(await endSessions(id))) throw new Failure('This user has just been deleted.');
  console.log(`The sessions of user ${id} are ended; the user can log in again.`);
};

export const run: Run = async ({ operator, operands: [email = ''] }) => {
  if (config.sessions === 'stateless') {
    throw new Failure(
      'Sessions are stateless in this service: a token is valid until it expires. Sessions can be ended only with the setting sessions=revocable.',
    );
  }
  const { id } = await requireUser(email);
  const details = { scope: 'all' };
  await recordChange(
    { operator, action: 'LOGOUT', resource: 'users', resource_id: id, details },
    () => end(id),
    { check: 'Run the command again: running it twice does no harm.' },
  );
};
