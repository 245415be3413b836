import type { Uses } from '../../infra/permissions.ts';

export const uses: Uses = {
  suspend: ['users.change', 'admins.other', 'audit.write'],
  lift: ['users.change', 'admins.check', 'audit.write'],
};
