import { confirmation, lacksSessions, type Uses, when } from '../../infra/permissions.ts';

export const uses: Uses = {
  request: ['mail', 'mail.told', when(lacksSessions, 'users.read')],
  confirm: [...confirmation, 'links.address', 'audit.write', 'mail'],
};
