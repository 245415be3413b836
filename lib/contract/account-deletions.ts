/** The deletion of one's own account. */
import { passwordConfirmation } from '../auth/credentials.ts';
import { accountDeletionUnder } from './named-schemas.ts';
import type { Describe, Operation, Operations } from './operation.ts';

export const deleteAccount = {
  caller: 'user',
  body: passwordConfirmation,
  storageFault: ['Error deleting user', 'err'],
} as const satisfies Operation;

const deleteAccountDescription: Describe = (settings) => ({
  exists: settings.selfDeletion === 'on',
  id: 'deleteAccount',
  tag: 'Accounts',
  summary: 'Delete one’s own account',
  text:
    'Deletes the caller, whose tokens then open nothing. It cannot be undone. A wrong password counts as a failed login. The last admin stays.' +
    (settings.secondFactor === 'off' ? '' : ' A user with a second factor needs `code` too.'),
  body: accountDeletionUnder(settings),
  bodyExample: { currentPassword: 'a long password of her own' },
  success: { status: 204, description: 'The account is deleted.' },
  errors: [
    'CURRENT_PASSWORD_REQUIRED',
    'CURRENT_PASSWORD_WRONG',
    'TOO_MANY_ATTEMPTS',
    'USER_NOT_FOUND',
    'LAST_ADMIN',
    'HASHING_FAULT',
    ...(settings.secondFactor === 'off' ? [] : (['CODE_REQUIRED', 'CODE_WRONG'] as const)),
  ],
});

export const operations = {
  'POST /api/account-deletions': [deleteAccount, deleteAccountDescription],
} as const satisfies Operations;
