/** The in-memory variant under /api/v1. */
import * as v from 'valibot';
import type { ServiceValues } from '../settings.ts';
import { nameAndEmail, nameOrEmail } from '../users/schema.ts';
import { user } from '../users/user.ts';
import type { Operation } from './operation.ts';

const { id, name, email, created_at } = user.entries;
const listedUser = v.object({ id, name, email });

/** A user of the in-memory variant. */
export const memoryUser = v.object({ id, name, email, createdAt: created_at });

const common = {
  caller: 'anyone',
  exists: ({ v1Users }: ServiceValues) => v1Users === 'on',
} as const;
const tag = 'Users in memory';
const bodyExample = { name: 'Ada Lovelace', email: 'ada@example.org' };
const listed = { id: 1, ...bodyExample };
const example = { ...listed, createdAt: '2026-11-21T09:05:00.000Z' };

export const listMemoryUsers = {
  ...common,
  describe: () => ({
    ...{ id: 'listMemoryUsers', tag, summary: 'List the users in memory' },
    success: {
      status: 200,
      description: 'All users.',
      schema: v.array(listedUser),
      example: [listed],
    },
    errors: [],
  }),
} as const satisfies Operation;

export const createMemoryUser = {
  ...common,
  body: nameAndEmail,
  describe: () => ({
    ...{ id: 'createMemoryUser', tag, summary: 'Create a user in memory', bodyExample },
    success: { status: 201, description: 'The new user.', schema: memoryUser, example },
    errors: ['NAME_AND_EMAIL_REQUIRED', 'FIELD_INVALID', 'EMAIL_EXISTS', 'MEMORY_FULL'],
  }),
} as const satisfies Operation;

export const getMemoryUser = {
  ...common,
  describe: () => ({
    ...{ id: 'getMemoryUser', tag, summary: 'Show a user in memory' },
    success: { status: 200, description: 'The user.', schema: memoryUser, example },
    errors: ['USER_NOT_FOUND'],
  }),
} as const satisfies Operation;

export const replaceMemoryUser = {
  ...common,
  body: nameAndEmail,
  describe: () => ({
    ...{ id: 'replaceMemoryUser', tag, summary: 'Replace a user in memory', bodyExample },
    success: { status: 200, description: 'The changed user.', schema: memoryUser, example },
    errors: ['NAME_AND_EMAIL_REQUIRED', 'FIELD_INVALID', 'USER_NOT_FOUND', 'EMAIL_EXISTS'],
  }),
} as const satisfies Operation;

export const changeMemoryUser = {
  ...common,
  body: nameOrEmail,
  describe: () => ({
    ...{ id: 'changeMemoryUser', tag, summary: 'Change a user in memory' },
    text: 'Changes what is given and not empty. With nothing of that it changes nothing.',
    bodyExample: { name: bodyExample.name },
    success: { status: 200, description: 'The changed user.', schema: memoryUser, example },
    errors: ['FIELD_INVALID', 'USER_NOT_FOUND', 'EMAIL_EXISTS'],
  }),
} as const satisfies Operation;

export const deleteMemoryUser = {
  ...common,
  describe: () => ({
    ...{ id: 'deleteMemoryUser', tag, summary: 'Delete a user in memory' },
    success: { status: 204, description: 'The user is deleted.' },
    errors: ['USER_NOT_FOUND'],
  }),
} as const satisfies Operation;
