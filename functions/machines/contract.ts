import * as v from 'valibot';
import type { Contract, Descriptions } from '../../lib/contract/contract.ts';
import { id, named, timestamp } from '../../lib/contract/schemas.ts';
import { hasMachines } from '../../lib/ground/settings.ts';
import { parseDateTime } from '../../lib/ground/time.ts';
import { described, rule, trueOrFalse } from '../../lib/ground/validation.ts';
import { scopes } from '../../lib/options/machines/machine.ts';
import { name } from '../../lib/users/fields.ts';

const managed = { exists: hasMachines, may: 'machines' } as const;

export const create = {
  route: 'POST /api/machines',
  ...managed,
  body: () => named('NewMachine', v.object({ name, scopes: scopeList(), expiresAt: expiry() })),
  storageFault: ['Error creating machine', 'insertErr'],
} as const satisfies Contract;

export const list = {
  route: 'GET /api/machines',
  exists: hasMachines,
  may: 'readMachines',
  storageFault: ['Error fetching machines', 'err'],
} as const satisfies Contract;

export const get = {
  route: 'GET /api/machines/{machine}',
  exists: hasMachines,
  may: 'readMachines',
  storageFault: ['Error fetching machine', 'err'],
} as const satisfies Contract;

export const update = {
  route: 'PUT /api/machines/{machine}',
  ...managed,
  body: () => named('MachineChanges', changes()),
  storageFault: ['Error updating machine', 'err'],
} as const satisfies Contract;

export const remove = {
  route: 'DELETE /api/machines/{machine}',
  ...managed,
  storageFault: ['Error deleting machine', 'err'],
} as const satisfies Contract;

export const addKey = {
  route: 'POST /api/machines/{machine}/keys',
  ...managed,
  body: () =>
    named(
      'NewMachineKey',
      v.object({
        endPrevious: v.exactOptional(
          described(trueOrFalse, 'Whether the key before ends at once, and not after 24 hours.'),
        ),
      }),
    ),
  storageFault: ['Error creating key', 'insertErr'],
} as const satisfies Contract;

export const tag = 'Machines';

const isStoredAdmin = 'The caller must be stored as an admin at that moment.';

export const descriptions: Descriptions = {
  create: () => ({
    id: 'createMachine',
    summary: 'Make a machine and its first key',
    text: ['The key is shown this once.', isStoredAdmin],
    bodyExample: { name: 'Billing', scopes: ['audit:write'], expiresAt: exampleMachine.expires_at },
    success: {
      status: 201,
      description: 'The machine is made.',
      schema: machineWithKey(),
      example: { ...exampleMachine, last_used_on: null, key: exampleKey },
    },
    errors: ['MACHINES_LIMITED'],
  }),

  list: () => ({
    id: 'listMachines',
    summary: 'List all machines',
    success: {
      status: 200,
      description: 'The machines, in the order of their ids.',
      schema: named('Machines', v.object({ data: v.array(machine()) })),
      example: { data: [exampleMachine] },
    },
  }),

  get: () => ({
    id: 'getMachine',
    summary: 'Get a machine',
    success: {
      status: 200,
      description: 'The machine.',
      schema: machine(),
      example: exampleMachine,
    },
  }),

  update: () => ({
    id: 'updateMachine',
    summary: 'Change a machine',
    text: [
      'Changes only the fields that are given; at least one is required. Null takes the end away. Fewer scopes count at the next request.',
      isStoredAdmin,
    ],
    bodyExample: { scopes: ['audit:write', 'users:read'] },
    success: {
      status: 200,
      description: 'The changed machine.',
      schema: machine(),
      example: { ...exampleMachine, scopes: ['audit:write', 'users:read'] },
    },
    errors: ['NO_FIELDS_TO_UPDATE'],
  }),

  remove: () => ({
    id: 'deleteMachine',
    summary: 'Remove a machine',
    text: 'Its keys are void from then on.',
    success: { status: 204, description: 'The machine is removed.' },
  }),

  addKey: () => ({
    id: 'createMachineKey',
    summary: 'Make another key of a machine',
    text: [
      'The key is shown this once. The key before is good for 24 hours more, unless `endPrevious` ends it; a third key ends the oldest at once.',
      isStoredAdmin,
    ],
    isBodyOptional: true,
    bodyExample: { endPrevious: true },
    success: {
      status: 201,
      description: 'The key is made.',
      schema: machineWithKey(),
      example: { ...exampleMachine, key: exampleKey },
    },
  }),
};

function scopeList() {
  const message = `must be a list of different scopes, each one of ${scopes.join(', ')}`;
  return v.pipe(
    v.array(v.picklist(scopes, message), message),
    rule<(typeof scopes)[number][]>({
      code: 'INVALID_FORMAT',
      holds: (given) => given.length > 0 && new Set(given).size === given.length,
      message: () => message,
      keywords: () => ({ minItems: 1, uniqueItems: true }),
    }),
  );
}

function expiry() {
  const message = 'must be a date-time with its offset (RFC 3339) in the future, or null';
  const instant = v.pipe(
    v.string(message),
    rule({
      code: 'INVALID_FORMAT',
      holds: (text) => (parseDateTime(text) ?? '') > new Date().toISOString(),
      message: () => message,
      keywords: () => ({ format: 'date-time' }),
    }),
    v.transform((text) => parseDateTime(text) as string),
  );
  return v.exactOptional(
    described(v.nullable(instant), 'When its keys end; null or absent: never.'),
  );
}

function changes() {
  const schema = v.object({
    name: v.exactOptional(name),
    scopes: v.exactOptional(scopeList()),
    expiresAt: expiry(),
  });
  const ofSome = rule<v.InferOutput<typeof schema>>({
    code: 'NO_FIELDS_TO_UPDATE',
    holds: (fields) => Object.keys(fields).length > 0,
    keywords: () => ({ minProperties: 1 }),
  });
  return v.pipe(schema, ofSome);
}

function machineWithKey() {
  return named('MachineWithKey', v.object({ ...machineFields(), key: v.string() }));
}

function machine() {
  return named('Machine', v.object(machineFields()));
}

function machineFields() {
  const key = { created_at: timestamp(), expires_at: v.nullable(timestamp()) };
  const ofCommand = 'The admin who made it; null: a command did.';
  const used = 'The day (UTC) of its last request; null: there was none.';
  return {
    id: id(),
    name: v.string(),
    scopes: v.array(v.picklist(scopes)),
    expires_at: v.nullable(timestamp()),
    created_at: timestamp(),
    made_by: described(v.nullable(id()), ofCommand),
    last_used_on: described(v.nullable(v.pipe(v.string(), v.isoDate())), used),
    keys: described(
      v.array(named('MachineKey', v.object(key))),
      'The newest first, at most two, some of which may have ended.',
    ),
  };
}

const exampleMachine = {
  id: 3,
  name: 'Billing',
  scopes: ['audit:write'],
  expires_at: '2099-12-31T00:00:00.000Z',
  created_at: '2026-11-29T09:00:00.000Z',
  made_by: 1,
  last_used_on: '2026-11-30',
  keys: [{ created_at: '2026-11-29T09:00:00.000Z', expires_at: null }],
};

const exampleKey = 'mk_3_0000000000000000000000000000000000000000000000000';
