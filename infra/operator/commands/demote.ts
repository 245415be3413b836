import { config } from '../../../lib/settings.ts';
import { besideAnotherAdmin, demoteAdmin } from '../../../lib/users/admins.ts';
import { recordChange, seeAdmins } from '../audit.ts';
import type { Run } from '../command.ts';
import { Failure } from '../failure.ts';
import { requireUser } from '../users.ts';

const demote = async (id: number): Promise<void> => {
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

export const run: Run = async ({ operator, operands: [email = ''] }) => {
  const { id, role } = await requireUser(email);
  if (role !== 'admin') throw new Failure('This user is not an admin.');
  const details = { fields: ['role'], role: { from: role, to: 'user' } };
  await recordChange(
    { operator, action: 'UPDATE', resource: 'users', resource_id: id, details },
    () => demote(id),
    { check: seeAdmins },
  );
};
