import type { Uses } from '../../infra/permissions.ts';

export const uses: Uses = {
  index: ['machines', 'admins.check', 'audit.write'],
};
