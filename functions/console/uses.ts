import type { Uses } from '../../infra/permissions.ts';

export const uses: Uses = {
  index: ['seal.told', 'files', 'attributes'],
};
