import { type Uses, when } from '../../infra/permissions.ts';
import { hasSessions } from '../../lib/ground/settings.ts';

export const uses: Uses = {
  create: [
    'attributes',
    'passwords',
    'users.create',
    'users.create-admin',
    'audit.write',
    'mail',
    'mail.told',
  ],
  list: ['signing-secret', 'users.find', 'users.list', 'attributes', 'users.whole', 'seen.list'],
  get: ['users.read', 'attributes', 'seen.read'],
  update: [
    'attributes',
    'passwords',
    'identities',
    'failures.confirm',
    'users.holder',
    'users.read',
    'users.rewrite',
    'audit.write',
    'mail',
    when(hasSessions, 'signing-secret'),
  ],
  remove: ['users.delete', 'audit.write', 'mail'],
  'remove-second-factor': ['users.change', 'passkeys.remove', 'audit.write', 'mail'],
};
