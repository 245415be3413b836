import type { Contract, Descriptions } from '../../lib/contract/contract.ts';
import {
  confirmationWithCode,
  confirmationWithCodeErrors,
  factorSessionError,
} from '../../lib/contract/schemas.ts';
import { hasSecondFactors, type ServiceValues } from '../../lib/ground/settings.ts';

export const create = {
  route: 'POST /api/account-deletions',
  exists: ({ selfDeletion }: ServiceValues) => selfDeletion === 'on',
  may: 'own',
  body: (settings) => confirmationWithCode('AccountDeletion', settings),
  whenInvalid: 'CURRENT_PASSWORD_REQUIRED',
  storageFault: ['Error deleting user', 'err'],
} as const satisfies Contract;

export const tag = 'Accounts';

export const descriptions: Descriptions = {
  create: (settings) => ({
    id: 'deleteAccount',
    summary: 'Delete one’s own account',
    text: [
      'Deletes the caller, whose tokens then open nothing. It cannot be undone.',
      'A wrong password counts as a failed login. The last admin stays.',
      hasSecondFactors(settings) && 'A user with a second factor needs `code` too.',
    ],
    bodyExample: { currentPassword: 'a long password of her own' },
    success: { status: 204, description: 'The account is deleted.' },
    errors: [...confirmationWithCodeErrors(settings), 'LAST_ADMIN', factorSessionError(settings)],
  }),
};
