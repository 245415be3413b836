/** Users, read and changed by callers with a token. */
import * as v from 'valibot';
import { hasSessions, type ServiceValues } from '../settings.ts';
import { email } from '../users/fields.ts';
import { newUserByAdmin, userChanges } from '../users/schema.ts';
import { oneOf } from '../validation.ts';
import { userChangesUnder, usersUnder, userUnder } from './named-schemas.ts';
import type { Describe, Operation, Operations } from './operation.ts';
import { limitUpTo, pageParameters } from './parameters.ts';

const tag = 'Users';
const example = {
  id: 17,
  name: 'Ada Lovelace',
  email: 'ada@example.org',
  role: 'user',
  created_at: '2026-11-21T09:05:00.000Z',
} as const;

const second = {
  id: 18,
  name: 'Charles Babbage',
  email: 'charles@example.org',
  role: 'user',
  created_at: '2026-11-21T09:06:00.000Z',
};

/** The field `email_verified` of the examples, where addresses are verified. */
const verifiedUnder = ({ emailVerification }: ServiceValues) =>
  emailVerification === 'off' ? {} : { email_verified: true };

export const createUser = {
  caller: 'user',
  body: newUserByAdmin,
  storageFault: ['Error creating user', 'insertErr'],
} as const satisfies Operation;

const createUserDescription: Describe = (settings) => ({
  id: 'createUser',
  tag,
  summary: 'Create a user',
  text:
    settings.accounts === 'private'
      ? 'For admins only, because the response says whether somebody has the address. The role `admin` needs a caller who is stored as an admin at that moment.'
      : 'Only admins may ask for the role `admin`; the caller must be stored as an admin at that moment.',
  bodyExample: { name: second.name, email: second.email, password: 'a long password' },
  success: {
    status: 201,
    description: 'The new user.',
    schema: userUnder(settings),
    example: { ...second, ...verifiedUnder(settings) },
  },
  errors: ['FIELDS_REQUIRED', 'FIELD_INVALID', 'FORBIDDEN', 'EMAIL_REGISTERED', 'HASHING_FAULT'],
});

export const listUsers = {
  caller: 'user',
  query: {
    ...pageParameters,
    limit: v.optional(
      v.pipe(
        limitUpTo(1000),
        v.description(
          'The most users in the response. Default: as many as one read of the list returns.',
        ),
      ),
    ),
    order: v.optional(
      v.pipe(
        oneOf(['asc', 'desc']),
        v.description('Oldest first (`asc`), or newest first.'),
        v.metadata({ default: 'asc' }),
      ),
    ),
    role: v.optional(v.pipe(oneOf(['admin']), v.description('Only the admins.'))),
    email: v.optional(
      v.pipe(
        email,
        v.description(
          'Only the user who has this address, in any letter case (`+` is written `%2B`). Not together with `cursor`.',
        ),
      ),
    ),
  },
  storageFault: ['Error listing users', 'err'],
} as const satisfies Operation;

const listUsersDescription: Describe = (settings) => ({
  id: 'listUsers',
  tag,
  summary: 'List the users',
  text:
    'Oldest first unless `order` says otherwise. Without `limit` a response has as many users as one read of 1 MB returns, which is thousands. As long as more remain, `Link` leads to the next page. A user who was just created may be missing for a moment.' +
    (settings.accounts === 'private' ? ' Callers who are not admins get only themselves.' : ''),
  success: {
    status: 200,
    description: 'One page of the users.',
    schema: usersUnder(settings),
    example: [{ ...example, ...verifiedUnder(settings) }],
    headers: ['Link'],
  },
  errors: ['PARAMETER_INVALID'],
});

export const getUser = {
  caller: 'reader',
  storageFault: ['Error fetching user', 'err'],
} as const satisfies Operation;

const getUserDescription: Describe = (settings) => ({
  id: 'getUser',
  tag,
  summary: 'Show a user',
  ...(settings.accounts === 'private'
    ? { text: 'Callers who are not admins may see only themselves.' }
    : {}),
  success: {
    status: 200,
    description: 'The user.',
    schema: userUnder(settings),
    example: { ...example, ...verifiedUnder(settings) },
  },
  errors: ['USER_NOT_FOUND'],
});

export const updateUser = {
  caller: 'maker',
  body: userChanges,
  storageFault: ['Error updating user', 'err'],
} as const satisfies Operation;

const updateUserDescription: Describe = (settings) => ({
  id: 'updateUser',
  tag,
  summary: 'Change a user',
  text:
    'Changes only the fields that are given; at least one is required. Only admins may change a role; to make somebody an admin, the caller must be stored as an admin at that moment.' +
    (settings.accounts === 'open'
      ? ' Whoever made a user by POST /api/users may change that user too, until somebody else sets a password or another address, or the user becomes an admin or enables a second factor.'
      : ' Callers who are not admins may change only themselves.') +
    (hasSessions(settings)
      ? ' Users who change their own password or address must send their current password too, and end their other sessions; an admin who sets a password, or demotes an admin, ends all the user’s.'
      : '') +
    (settings.emailVerification === 'off'
      ? ''
      : ' Another address of one’s own is mailed a link, and counts only when the link is used: until then the response has the old one, and the new one as `pending_email`. The present address, sent back, cancels that.'),
  body: userChangesUnder(settings),
  bodyExample: { name: 'Ada King' },
  success: {
    status: 200,
    description: 'The changed user.',
    schema: userUnder(settings),
    example: { ...example, name: 'Ada King', ...verifiedUnder(settings) },
  },
  errors: [
    'NO_FIELDS_TO_UPDATE',
    'FIELD_INVALID',
    'USER_NOT_FOUND',
    'EMAIL_REGISTERED',
    'HASHING_FAULT',
    ...(hasSessions(settings)
      ? (['CURRENT_PASSWORD_REQUIRED', 'CURRENT_PASSWORD_WRONG', 'TOO_MANY_ATTEMPTS'] as const)
      : []),
  ],
});

export const deleteUser = {
  caller: 'admin',
  storageFault: ['Error deleting user', 'err'],
} as const satisfies Operation;

const deleteUserDescription: Describe = () => ({
  id: 'deleteUser',
  tag,
  summary: 'Delete a user',
  success: { status: 204, description: 'The user is deleted.' },
  errors: ['USER_NOT_FOUND'],
});

export const operations = {
  'POST /api/users': [createUser, createUserDescription],
  'GET /api/users': [listUsers, listUsersDescription],
  'GET /api/users/{id}': [getUser, getUserDescription],
  'PUT /api/users/{id}': [updateUser, updateUserDescription],
  'DELETE /api/users/{id}': [deleteUser, deleteUserDescription],
} as const satisfies Operations;
