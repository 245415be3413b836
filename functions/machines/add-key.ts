import { protectedEndpoint } from '../../lib/http/access.ts';
import { sourceOf } from '../../lib/http/request.ts';
import { addKey } from '../../lib/options/machines/change-machines.ts';
import { parseMachineId, shownMachine } from '../../lib/options/machines/machine.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.addKey, async (request) => {
  const admin = { by: request.claims.id, source: sourceOf(request) };
  const id = parseMachineId(request.pathParameters?.machine);
  const { endPrevious = false } = request.body;
  const { machine, key } = await addKey(id, { endPrevious }, admin);
  return { statusCode: 201, body: { ...shownMachine(machine), key } };
});
