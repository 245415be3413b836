import type { Uses } from '../../infra/permissions.ts';

export const uses: Uses = {
  create: ['audit.post'],
  list: ['signing-secret', 'audit.query', 'audit.mark', 'audit.write'],
};
