import { create } from '../../../functions/machines/contract.ts';
import { DomainError } from '../../../lib/ground/errors.ts';
import { config, hasMachines } from '../../../lib/ground/settings.ts';
import { validate } from '../../../lib/ground/validation.ts';
import {
  type MachineFields,
  newMachine,
  powersOf,
  resourceIdOf,
} from '../../../lib/options/machines/change-machines.ts';
import { type Machine, scopes } from '../../../lib/options/machines/machine.ts';
import {
  allocateMachineId,
  insertMachine,
  mostMachines,
} from '../../../lib/options/machines/store.ts';
import { recordChange } from '../audit.ts';
import { type Command, type Invocation, parseTime, type Run } from '../command.ts';
import { Failure, UsageError } from '../failure.ts';

export const createMachine: Command = {
  summary: 'make a machine, and print its key',
  operands: ['name'],
  options: {
    '--scope <scope...>': `what the machine may do; repeat it for several (${scopes.join(', ')})`,
    '--expires-at <time>': 'when its keys end (default: never)',
  },
  help: `For a pipeline that has no admin: another service calls this one with the key, in place of a user's token. Only
the key is printed on standard output, and it is never shown again. Each run makes another machine; admins change and
remove machines in the console. The service must have machines (machines=on).`,
  examples: [
    'create-machine orders --scope audit:write --local',
    'create-machine reports --scope audit:read --scope users:read --expires-at 2027-12-31 --stack accounts-production',
  ],
  run,
};

async function run({ operator, operands: [name], options }: Parameters<Run>[0]): Promise<void> {
  if (!hasMachines(config)) {
    throw new Failure('This service has no machines: see the setting machines.');
  }
  const fields = parseFields(name, options);
  const { machine, key } = newMachine(await allocateMachineId(), fields, {});
  const { id } = machine;
  await recordChange(
    {
      operator,
      action: 'CREATE',
      resource: 'machines',
      resource_id: resourceIdOf(id),
      details: powersOf(machine),
    },
    async () => {
      await insert(machine);
      console.log(key);
      console.error(
        `Made machine ${id} with ${described(machine)}. Its key, on standard output, is shown only now.`,
      );
    },
    {
      check: `Remove machine ${id} in the console if it is there, because nobody has its key, and run the command again.`,
    },
  );
}

/** The fields of a new machine, by the rules of POST /api/machines. @throws {UsageError} */
function parseFields(name: unknown, options: Invocation['options']): MachineFields {
  const expiresAt = parseTime('expires-at', options.expiresAt);
  if (expiresAt !== undefined && expiresAt <= new Date().toISOString()) {
    throw new UsageError('--expires-at must be in the future.');
  }
  const given = { name, scopes: options.scope ?? [], ...(expiresAt ? { expiresAt } : {}) };
  const parsed = validate(create.body(), given);
  if ('output' in parsed) return parsed.output;
  const [{ field = '', rule = '' } = {}] = parsed.faults;
  throw new UsageError(`${field === 'name' ? 'NAME' : '--scope'} ${rule}.`);
}

/** @throws {Failure} at the limit of machines; the store's errors */
async function insert(machine: Machine): Promise<void> {
  try {
    await insertMachine(machine);
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== 'MACHINES_LIMITED') throw error;
    throw new Failure(
      `There are ${mostMachines} machines, and there may be no more: remove one in the console.`,
    );
  }
}

function described({ scopes: given, ends_at }: Machine): string {
  const all = `the scope${given.length > 1 ? 's' : ''} ${given.join(', ')}`;
  return ends_at ? `${all} until ${ends_at}` : all;
}
