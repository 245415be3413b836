import { confirmation, type Uses, when } from '../../infra/permissions.ts';
import { hasSecondFactors } from '../../lib/ground/settings.ts';

export const uses: Uses = {
  create: [
    ...confirmation,
    'users.read',
    'users.delete-own',
    'audit.write',
    'mail',
    'factor.decrypt',
    when(hasSecondFactors, 'users.change'),
  ],
};
