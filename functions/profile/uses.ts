import { lacksSessions, type Uses, when } from '../../infra/permissions.ts';

export const uses: Uses = {
  get: ['attributes', when(lacksSessions, 'users.read')],
};
