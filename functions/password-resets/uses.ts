import type { Uses } from '../../infra/permissions.ts';

export const uses: Uses = {
  request: ['mail', 'mail.told'],
  set: ['signing-secret', 'passwords', 'links.reset', 'attributes', 'audit.write', 'mail'],
};
