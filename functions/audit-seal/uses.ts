import type { Uses } from '../../infra/permissions.ts';

export const uses: Uses = {
  get: ['seal', 'settings.told'],
  'request-check': ['seal.told', 'seal.request', 'audit.write'],
};
