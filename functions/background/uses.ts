import type { Uses } from '../../infra/permissions.ts';

export const uses: Uses = {
  'send-mail': ['mail.send', 'users.find', 'users.change', 'audit.write'],
  'seal-audit': ['audit.seal'],
  'publish-audit': ['audit.publish'],
};
