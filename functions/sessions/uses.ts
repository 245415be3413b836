import type { Uses } from '../../infra/permissions.ts';

export const uses: Uses = {
  list: [],
  end: ['sessions.change', 'audit.write'],
  'end-others': ['users.change', 'audit.write'],
};
