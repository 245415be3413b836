import * as v from 'valibot';
import { type Contract, type Descriptions, named } from '../../lib/contract/contract.ts';
import { codeUnder, confirmationErrors, confirmationUnder } from '../../lib/contract/schemas.ts';
import { hasSecondFactors, type ServiceValues } from '../../lib/ground/settings.ts';
import { confirmation, textIfAny } from '../../lib/users/fields.ts';

export const create = {
  route: 'POST /api/account-deletions',
  exists: ({ selfDeletion }: ServiceValues) => selfDeletion === 'on',
  may: 'own',
  // The code is looked at when the caller has a second factor.
  body: () => v.object({ ...confirmation(), code: textIfAny() }),
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
    body: named(
      'AccountDeletion',
      v.object({ ...confirmationUnder(settings), ...codeUnder(settings) }),
    ),
    bodyExample: { currentPassword: 'a long password of her own' },
    success: { status: 204, description: 'The account is deleted.' },
    errors: [
      'CURRENT_PASSWORD_WRONG',
      'TOO_MANY_ATTEMPTS',
      'USER_NOT_FOUND',
      'LAST_ADMIN',
      confirmationErrors(settings),
      hasSecondFactors(settings) && ['CODE_REQUIRED', 'CODE_WRONG'],
    ],
  }),
};
