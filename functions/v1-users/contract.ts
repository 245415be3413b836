import * as v from 'valibot';
import type { Contract, Descriptions } from '../../lib/contract/contract.ts';
import { id, named, timestamp } from '../../lib/contract/schemas.ts';
import type { ServiceValues } from '../../lib/ground/settings.ts';
import { atLeast, atMost, text } from '../../lib/ground/validation.ts';
import { uniqueness } from '../../lib/users/address.ts';

const forAnyone = { exists, may: 'public', takesSource: false } as const;

export const list = { route: 'GET /api/v1/users', ...forAnyone } as const satisfies Contract;

export const create = {
  route: 'POST /api/v1/users',
  ...forAnyone,
  body: nameAndEmail,
  whenMissing: 'NAME_AND_EMAIL_REQUIRED',
} as const satisfies Contract;

export const get = { route: 'GET /api/v1/users/{id}', ...forAnyone } as const satisfies Contract;

export const replace = {
  route: 'PUT /api/v1/users/{id}',
  ...forAnyone,
  body: nameAndEmail,
  whenMissing: 'NAME_AND_EMAIL_REQUIRED',
} as const satisfies Contract;

export const change = {
  route: 'PATCH /api/v1/users/{id}',
  ...forAnyone,
  body: nameOrEmail,
} as const satisfies Contract;

export const remove = {
  route: 'DELETE /api/v1/users/{id}',
  ...forAnyone,
} as const satisfies Contract;

export type MemoryUser = Readonly<v.InferOutput<ReturnType<typeof memoryUser>>>;

export const tag = 'Users in memory';

const bodyExample = { name: 'Ada Lovelace', email: 'ada@example.org' };

export const descriptions: Descriptions = {
  list: () => ({
    id: 'listMemoryUsers',
    summary: 'List the users in memory',
    success: {
      status: 200,
      description: 'All users.',
      schema: named('MemoryUsers', v.array(named('ListedMemoryUser', v.object(listed())))),
      example: [{ id: 1, ...bodyExample }],
    },
  }),

  create: () => ({
    id: 'createMemoryUser',
    summary: 'Create a user in memory',
    bodyExample,
    success: { status: 201, description: 'The new user.', ...shown() },
    errors: ['EMAIL_EXISTS', 'MEMORY_FULL'],
  }),

  get: () => ({
    id: 'getMemoryUser',
    summary: 'Show a user in memory',
    success: { status: 200, description: 'The user.', ...shown() },
  }),

  replace: () => ({
    id: 'replaceMemoryUser',
    summary: 'Replace a user in memory',
    bodyExample,
    success: { status: 200, description: 'The changed user.', ...shown() },
    errors: ['EMAIL_EXISTS'],
  }),

  change: () => ({
    id: 'changeMemoryUser',
    summary: 'Change a user in memory',
    text: 'Changes the fields that are given and not empty. If there are none, nothing changes.',
    isBodyOptional: true,
    bodyExample: { name: bodyExample.name },
    success: { status: 200, description: 'The changed user.', ...shown() },
    errors: ['EMAIL_EXISTS'],
  }),

  remove: () => ({
    id: 'deleteMemoryUser',
    summary: 'Delete a user in memory',
    success: { status: 204, description: 'The user is deleted.' },
  }),
};

function exists({ v1Users }: ServiceValues) {
  return v1Users === 'on';
}

function nameAndEmail() {
  return named(
    'NameAndEmail',
    v.object({ name: v.pipe(name(), filled()), email: v.pipe(email(), filled()) }),
  );
}

function name() {
  return v.pipe(text, atMost(100), v.description('Kept as it was given.'));
}

function filled() {
  return atLeast(() => 1);
}

function email() {
  return v.pipe(text, atMost(191), v.description(uniqueness));
}

/** Missing and empty fields change nothing. */
function nameOrEmail() {
  return named(
    'NameOrEmail',
    v.pipe(
      v.object({
        name: v.exactOptional(v.nullable(name())),
        email: v.exactOptional(v.nullable(email())),
      }),
      v.transform(({ name, email }) => ({ ...(name && { name }), ...(email && { email }) })),
    ),
  );
}

function memoryUser() {
  return named('MemoryUser', v.object({ ...listed(), createdAt: timestamp() }));
}

function listed() {
  return { id: id(), name: v.string(), email: v.string() };
}

function shown() {
  return {
    schema: memoryUser(),
    example: { id: 1, ...bodyExample, createdAt: '2026-11-21T09:05:00.000Z' },
  };
}
