import { logins, type Uses } from '../../infra/permissions.ts';

export const uses: Uses = {
  index: [
    'passwords',
    'identities',
    'identities.link',
    'registrations.count',
    ...logins,
    'users.create',
    'sessions.first',
    'audit.write',
    'mail',
  ],
};
