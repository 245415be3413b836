/** The deletion of one's own account. */
import * as v from 'valibot';
import type { Describe, Operation, Operations } from './operation.ts';

/** The body. The current password is checked where it is compared. */
export const accountDeletion = v.object({
  currentPassword: v.pipe(v.string(), v.minLength(1), v.metadata({ format: 'password' })),
});

export const deleteAccount = {
  caller: 'user',
  body: accountDeletion,
  storageFault: ['Error deleting user', 'err'],
} as const satisfies Operation;

const deleteAccountDescription: Describe = ({ selfDeletion }) => ({
  exists: selfDeletion === 'on',
  id: 'deleteAccount',
  tag: 'Accounts',
  summary: 'Delete one’s own account',
  text: 'Deletes the caller, whose tokens then open nothing. It cannot be undone. A wrong password counts as a failed login. The last admin stays.',
  bodyExample: { currentPassword: 'a long password of her own' },
  success: { status: 204, description: 'The account is deleted.' },
  errors: [
    ...(['CURRENT_PASSWORD_REQUIRED', 'CURRENT_PASSWORD_WRONG', 'TOO_MANY_ATTEMPTS'] as const),
    ...(['USER_NOT_FOUND', 'LAST_ADMIN', 'HASHING_FAULT'] as const),
  ],
});

export const operations = {
  'POST /api/account-deletions': [deleteAccount, deleteAccountDescription],
} as const satisfies Operations;
