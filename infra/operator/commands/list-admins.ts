import { printable } from '../../../lib/log.ts';
import { listAdmins } from '../../../lib/users/admins.ts';
import { recordOperation } from '../audit.ts';
import type { Run } from '../command.ts';

export const run: Run = async ({ operator }) => {
  const admins = await listAdmins();
  for (const { id, email, name, created_at } of admins) {
    console.log([String(id), email, name, created_at].map(printable).join('\t'));
  }
  if (admins.length === 0) console.error('There is no admin yet: create one by create-admin.');
  await recordOperation({ operator, action: 'READ', resource: 'users' });
};
