import { printable } from '../../../lib/log.ts';
import { listAdmins as readAdmins } from '../../../lib/users/admins.ts';
import { recordOperation } from '../audit.ts';
import type { Command, Run } from '../command.ts';

const run: Run = async ({ operator }) => {
  const admins = await readAdmins();
  for (const { id, email, name, created_at } of admins) {
    console.log([String(id), email, name, created_at].map(printable).join('\t'));
  }
  if (admins.length === 0) console.error('There is no admin yet: create one by create-admin.');
  await recordOperation({ operator, action: 'READ' });
};

export const listAdmins: Command = {
  summary: 'list the users who have the role admin',
  operands: [],
  help: 'Each line has id, email, name and time of creation, separated by tabs. A change of the last\nsecond may be missing.',
  examples: ['list-admins --stack accounts-production', 'list-admins --local'],
  run,
};
