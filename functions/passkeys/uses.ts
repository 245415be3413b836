import { logins, type Uses } from '../../infra/permissions.ts';

export const uses: Uses = {
  index: ['passwords', 'identities', 'passkeys', ...logins, 'audit.write', 'mail'],
};
