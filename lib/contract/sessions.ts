/** The end of sessions, where they are revocable. */
import * as v from 'valibot';
import type { Describe, Operation, Operations } from './operation.ts';

export const logOut = {
  caller: 'user',
  query: {
    scope: v.optional(
      v.pipe(
        v.picklist(['all'], 'must be all, or absent'),
        v.description('`all`: all sessions of the user; absent: that of the token.'),
      ),
    ),
  },
  storageFault: ['Error logging out', 'err'],
} as const satisfies Operation;

const logOutDescription: Describe = ({ sessions }) => ({
  exists: sessions === 'revocable',
  id: 'logOut',
  tag: 'Accounts',
  summary: 'Log out',
  text: 'The token is refused from then on. A token of a user who was deleted is logged out too.',
  success: { status: 204, description: 'The session is ended.' },
  errors: ['PARAMETER_INVALID'],
});

export const revokeSessions = {
  caller: 'admin',
  storageFault: ['Error revoking sessions', 'err'],
} as const satisfies Operation;

const revokeSessionsDescription: Describe = ({ sessions }) => ({
  exists: sessions === 'revocable',
  id: 'revokeSessions',
  tag: 'Users',
  summary: 'End all sessions of a user',
  text: 'Every token that the user has is refused from then on; it may log in again.',
  success: { status: 204, description: 'The sessions are ended.' },
  errors: ['USER_NOT_FOUND'],
});

export const operations = {
  'POST /api/logout': [logOut, logOutDescription],
  'POST /api/users/{id}/revocations': [revokeSessions, revokeSessionsDescription],
} as const satisfies Operations;
