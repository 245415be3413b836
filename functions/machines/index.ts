import { protectedEndpoint } from '../../lib/http/access.ts';
import type { AuthenticatedRequest } from '../../lib/http/request.ts';
import { routes } from '../../lib/http/routes.ts';
import {
  addKey,
  changeMachine,
  createMachine,
  removeMachine,
} from '../../lib/options/machines/change-machines.ts';
import {
  readShownMachine,
  readShownMachines,
  shownMachine,
} from '../../lib/options/machines/machine.ts';
import { parseId } from '../../lib/users/user.ts';
import * as contract from './contract.ts';

/** One function serves all endpoints of machines, which are seldom called. */
export const handler = routes(
  protectedEndpoint(contract.create, async (request) => {
    const { machine, key } = await createMachine(request.body, adminOf(request));
    return { statusCode: 201, body: { ...shownMachine(machine), key } };
  }),

  protectedEndpoint(contract.list, async () => ({
    statusCode: 200,
    body: { data: await readShownMachines() },
  })),

  protectedEndpoint(contract.get, async (request) => ({
    statusCode: 200,
    body: await readShownMachine(idIn(request)),
  })),

  protectedEndpoint(contract.update, async (request) => {
    const id = idIn(request);
    // The last use is read first: once the machine is changed, nothing may keep the response from the caller.
    const { last_used_on } = await readShownMachine(id);
    const machine = await changeMachine(id, request.body, adminOf(request));
    return { statusCode: 200, body: { ...shownMachine(machine), last_used_on } };
  }),

  protectedEndpoint(contract.remove, async (request) => {
    await removeMachine(idIn(request), adminOf(request));
    return { statusCode: 204 };
  }),

  protectedEndpoint(contract.addKey, async (request) => {
    const { endPrevious = false } = request.body;
    const id = idIn(request);
    // The last use is read first: once the key is made, nothing may keep the response from the caller.
    const { last_used_on } = await readShownMachine(id);
    const { machine, key } = await addKey(id, { endPrevious }, adminOf(request));
    return { statusCode: 201, body: { ...shownMachine(machine), last_used_on, key } };
  }),
);

function adminOf({ claims, source }: AuthenticatedRequest) {
  return { by: claims.id, source };
}

function idIn({ pathParameters }: AuthenticatedRequest): number {
  return parseId(pathParameters?.machine, 'MACHINE_NOT_FOUND');
}
