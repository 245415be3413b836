import type { Uses } from '../../infra/permissions.ts';

export const uses: Uses = {
  entry: ['seal', 'seal.compare', 'audit.mark', 'audit.write'],
  get: ['seal', 'seal.progress', 'settings.told'],
  'request-check': ['seal.told', 'seal.request', 'audit.write'],
};
