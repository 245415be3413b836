import type { Uses } from '../../infra/permissions.ts';

export const uses: Uses = {
  create: ['machines.create', 'admins.check', 'audit.write'],
  list: ['machines.list'],
  get: ['machines.list'],
  update: ['machines.change', 'admins.check', 'audit.write'],
  remove: ['machines.remove', 'audit.write'],
  'add-key': ['machines.change', 'admins.check', 'audit.write'],
};
