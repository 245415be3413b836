import type { Uses } from '../../infra/permissions.ts';

export const uses: Uses = {
  list: ['signing-secret', 'audit.query', 'audit.mark', 'audit.write'],
};
