import * as v from 'valibot';
import { type Contract, type Descriptions, named } from '../../lib/contract/contract.ts';
import type { ServiceValues } from '../../lib/settings.ts';
import { knownPassword, optionalCode, textIfAny } from '../../lib/users/fields.ts';

export const create = {
  route: 'POST /api/account-deletions',
  exists: ({ selfDeletion }: ServiceValues) => selfDeletion === 'on',
  caller: 'user',
  // The code is looked at when the caller has a second factor.
  body: () => v.object({ currentPassword: knownPassword(), code: textIfAny() }),
  whenInvalid: 'CURRENT_PASSWORD_REQUIRED',
  storageFault: ['Error deleting user', 'err'],
} as const satisfies Contract;

export const tag = 'Accounts';

export const descriptions: Descriptions = {
  create: ({ secondFactor }) => ({
    id: 'deleteAccount',
    summary: 'Delete one’s own account',
    text:
      'Deletes the caller, whose tokens then open nothing. It cannot be undone. A wrong password counts as a failed login. The last admin stays.' +
      (secondFactor === 'off' ? '' : ' A user with a second factor needs `code` too.'),
    body: named(
      'AccountDeletion',
      secondFactor === 'off'
        ? v.object({ currentPassword: knownPassword() })
        : v.object({ currentPassword: knownPassword(), code: optionalCode() }),
    ),
    bodyExample: { currentPassword: 'a long password of her own' },
    success: { status: 204, description: 'The account is deleted.' },
    errors: [
      'CURRENT_PASSWORD_WRONG',
      'TOO_MANY_ATTEMPTS',
      'USER_NOT_FOUND',
      'LAST_ADMIN',
      'HASHING_FAULT',
      ...(secondFactor === 'off' ? [] : (['CODE_REQUIRED', 'CODE_WRONG'] as const)),
    ],
  }),
};
