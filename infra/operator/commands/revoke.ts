import { config } from '../../../lib/settings.ts';
import { endSessions } from '../../../lib/users/sessions.ts';
import { recordChange } from '../audit.ts';
import type { Run } from '../command.ts';
import { Failure } from '../failure.ts';
import { requireUser } from '../users.ts';

const end = async (id: number): Promise<void> => {
  if (!(await endSessions(id))) throw new Failure('This user was deleted just now.');
  console.log(`The sessions of user ${id} are ended; it may log in again.`);
};

export const run: Run = async ({ operator, operands: [email = ''] }) => {
  if (config.sessions === 'stateless') {
    throw new Failure(
      'Sessions are stateless here: a token is good until it expires. They can be ended with the setting sessions=revocable.',
    );
  }
  const { id } = await requireUser(email);
  const details = { scope: 'all' };
  await recordChange(
    { operator, action: 'LOGOUT', resource: 'users', resource_id: id, details },
    () => end(id),
    { check: 'Run it again: twice does no harm.' },
  );
};
