import type { Uses } from '../../infra/permissions.ts';

export const uses: Uses = {
  create: ['users.read', 'audit.write', 'mail', 'mail.told'],
};
