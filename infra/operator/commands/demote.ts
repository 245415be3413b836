import { config } from '../../../lib/settings.ts';
import { besideAnotherAdmin, demoteAdmin } from '../../../lib/users/admins.ts';
import { recordChange, seeAdmins } from '../audit.ts';
import type { Command, Run } from '../command.ts';
import { Failure } from '../failure.ts';
import { requireUser } from '../users.ts';

const takeRole = async (id: number): Promise<void> => {
  if (!(await besideAnotherAdmin(id, (otherAdmin) => demoteAdmin(id, { otherAdmin })))) {
    throw new Failure(
      'This is the last admin, without whom nobody could manage users: make another user an admin first, by create-admin or promote.',
    );
  }
  const sessions =
    config.sessions === 'revocable'
      ? 'The sessions of this user are ended.'
      : 'Tokens that were issued before keep the role until they expire, within a day.';
  console.log(`User ${id} is no longer an admin. ${sessions}`);
};

const run: Run = async ({ operator, operands: [email = ''] }) => {
  const { id, role } = await requireUser(email);
  if (role !== 'admin') throw new Failure('This user is not an admin.');
  const details = { fields: ['role'], role: { from: role, to: 'user' } };
  await recordChange({ operator, action: 'UPDATE', resource_id: id, details }, () => takeRole(id), {
    check: seeAdmins,
  });
};

export const demote: Command = {
  summary: 'take the role admin from a user',
  operands: ['EMAIL'],
  help: `The last admin cannot be demoted: make another user an admin first. The sessions of the user
are ended; where sessions are stateless, a token keeps the role until it expires, at most one day
after its login.`,
  examples: [
    'demote ada@example.com --stack accounts-production',
    'demote ada@example.com --local',
  ],
  run,
};
