import { updateUser } from '../../../lib/users/changes.ts';
import { recordChange, seeAdmins } from '../audit.ts';
import type { Command, Run } from '../command.ts';
import { Failure } from '../failure.ts';
import { requireUser } from '../users.ts';

const run: Run = async ({ operator, operands: [email = ''] }) => {
  const { id, role } = await requireUser(email);
  if (role === 'admin') throw new Failure('This user is an admin already.');
  const details = { fields: ['role'], role: { from: role, to: 'admin' } };
  await recordChange(
    { operator, action: 'UPDATE', resource_id: id, details },
    async () => {
      await updateUser(id, { role: 'admin' });
      console.log(`User ${id} is an admin from the next login on.`);
    },
    { check: seeAdmins },
  );
};

export const promote: Command = {
  summary: 'give a user the role admin',
  operands: ['EMAIL'],
  help: `It takes effect at the next login. Where sessions are revocable, the present ones are ended.`,
  examples: [
    'promote ada@example.com --stack accounts-production',
    'promote ada@example.com --local',
  ],
  run,
};
