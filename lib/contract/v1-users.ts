/** The in-memory variant under /api/v1. */
import { nameAndEmail, nameOrEmail } from '../users/fields.ts';
import { memoryUser, memoryUsers } from './named-schemas.ts';
import type { Describe, Operation, Operations } from './operation.ts';

const tag = 'Users in memory';
const bodyExample = { name: 'Ada Lovelace', email: 'ada@example.org' };
const listed = { id: 1, ...bodyExample };
const example = { ...listed, createdAt: '2026-11-21T09:05:00.000Z' };

export const listMemoryUsers = { caller: 'anyone' } as const satisfies Operation;

const listMemoryUsersDescription: Describe = ({ v1Users }) => ({
  exists: v1Users === 'on',
  id: 'listMemoryUsers',
  tag,
  summary: 'List the users in memory',
  success: {
    status: 200,
    description: 'All users.',
    schema: memoryUsers,
    example: [listed],
  },
  errors: [],
});

export const createMemoryUser = {
  caller: 'anyone',
  body: nameAndEmail,
} as const satisfies Operation;

const createMemoryUserDescription: Describe = ({ v1Users }) => ({
  exists: v1Users === 'on',
  id: 'createMemoryUser',
  tag,
  summary: 'Create a user in memory',
  bodyExample,
  success: { status: 201, description: 'The new user.', schema: memoryUser, example },
  errors: ['NAME_AND_EMAIL_REQUIRED', 'FIELD_INVALID', 'EMAIL_EXISTS', 'MEMORY_FULL'],
});

export const getMemoryUser = { caller: 'anyone' } as const satisfies Operation;

const getMemoryUserDescription: Describe = ({ v1Users }) => ({
  exists: v1Users === 'on',
  id: 'getMemoryUser',
  tag,
  summary: 'Show a user in memory',
  success: { status: 200, description: 'The user.', schema: memoryUser, example },
  errors: ['USER_NOT_FOUND'],
});

export const replaceMemoryUser = {
  caller: 'anyone',
  body: nameAndEmail,
} as const satisfies Operation;

const replaceMemoryUserDescription: Describe = ({ v1Users }) => ({
  exists: v1Users === 'on',
  id: 'replaceMemoryUser',
  tag,
  summary: 'Replace a user in memory',
  bodyExample,
  success: { status: 200, description: 'The changed user.', schema: memoryUser, example },
  errors: ['NAME_AND_EMAIL_REQUIRED', 'FIELD_INVALID', 'USER_NOT_FOUND', 'EMAIL_EXISTS'],
});

export const changeMemoryUser = {
  caller: 'anyone',
  body: nameOrEmail,
} as const satisfies Operation;

const changeMemoryUserDescription: Describe = ({ v1Users }) => ({
  exists: v1Users === 'on',
  id: 'changeMemoryUser',
  tag,
  summary: 'Change a user in memory',
  text: 'Changes the fields that are given and not empty. If there are none, nothing changes.',
  isBodyOptional: true,
  bodyExample: { name: bodyExample.name },
  success: { status: 200, description: 'The changed user.', schema: memoryUser, example },
  errors: ['FIELD_INVALID', 'USER_NOT_FOUND', 'EMAIL_EXISTS'],
});

export const deleteMemoryUser = { caller: 'anyone' } as const satisfies Operation;

const deleteMemoryUserDescription: Describe = ({ v1Users }) => ({
  exists: v1Users === 'on',
  id: 'deleteMemoryUser',
  tag,
  summary: 'Delete a user in memory',
  success: { status: 204, description: 'The user is deleted.' },
  errors: ['USER_NOT_FOUND'],
});

export const operations = {
  'GET /api/v1/users': [listMemoryUsers, listMemoryUsersDescription],
  'POST /api/v1/users': [createMemoryUser, createMemoryUserDescription],
  'GET /api/v1/users/{id}': [getMemoryUser, getMemoryUserDescription],
  'PUT /api/v1/users/{id}': [replaceMemoryUser, replaceMemoryUserDescription],
  'PATCH /api/v1/users/{id}': [changeMemoryUser, changeMemoryUserDescription],
  'DELETE /api/v1/users/{id}': [deleteMemoryUser, deleteMemoryUserDescription],
} as const satisfies Operations;
