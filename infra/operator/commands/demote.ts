import { config } from '../../../lib/settings.ts';
import { demoteAdmin, listAdmins } from '../../../lib/users/admins.ts';
import { recordChange, seeAdmins } from '../audit.ts';
import type { Run } from '../command.ts';
import { Failure } from '../failure.ts';
import { requireUser } from '../users.ts';

/** Tries the other admins in turn, as the index may list one who no longer is. */
const demoteBesideAnother = async (id: number): Promise<boolean> => {
  const admins = await listAdmins();
  for (const other of admins) {
    if (other.id !== id && (await demoteAdmin(id, { otherAdmin: other.id }))) return true;
  }
  return false;
};

const demote = async (id: number): Promise<void> => {
  if (!(await demoteBesideAnother(id))) {
    throw new Failure(
      'This is the last admin, without whom nobody could manage users: make another one before, by create-admin or promote.',
    );
  }
  const sessions =
    config.sessions === 'revocable'
      ? 'Its sessions are ended.'
      : 'A token it has is good for a day at most.';
  console.log(`User ${id} is no admin any more. ${sessions}`);
};

export const run: Run = async ({ operator, operands: [email = ''] }) => {
  const { id, role } = await requireUser(email);
  if (role !== 'admin') throw new Failure('This user is no admin.');
  const details = { fields: ['role'], role: { from: role, to: 'user' } };
  await recordChange(
    { operator, action: 'UPDATE', resource: 'users', resource_id: id, details },
    () => demote(id),
    { check: seeAdmins },
  );
};
