import type { Uses } from '../../infra/permissions.ts';

export const uses: Uses = {
  list: ['secret', 'audit.read', 'audit.write'],
};
