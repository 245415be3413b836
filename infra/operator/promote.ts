import { updateUser } from '../../lib/users/changes.ts';
import { recordOperation } from './audit.ts';
import type { Run } from './commands.ts';
import { Failure } from './failure.ts';
import { requireUser } from './users.ts';

export const run: Run = async ({ command, operands: [email = ''] }) => {
  const { id, role } = await requireUser(email);
  if (role === 'admin') throw new Failure('This user is an admin already.');
  await updateUser(id, { role: 'admin' });
  console.log(`User ${id} is an admin from its next login on.`);
  const details = { fields: ['role'] };
  await recordOperation({ command, action: 'UPDATE', resource: 'users', resource_id: id, details });
};
