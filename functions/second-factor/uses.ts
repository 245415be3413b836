import { confirmation, type Uses } from '../../infra/permissions.ts';

export const uses: Uses = {
  get: [],
  enrol: [...confirmation, 'users.change', 'audit.write', 'factor.encrypt'],
  confirm: [
    'signing-secret',
    'failures.count',
    'users.change',
    'audit.write',
    'mail',
    'factor.decrypt',
  ],
  'renew-recovery-codes': [
    ...confirmation,
    'users.change',
    'audit.write',
    'mail',
    'factor.decrypt',
  ],
  remove: [...confirmation, 'users.change', 'audit.write', 'mail', 'factor.decrypt'],
};
