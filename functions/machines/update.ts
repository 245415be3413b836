import { protectedEndpoint } from '../../lib/http/access.ts';
import { sourceOf } from '../../lib/http/request.ts';
import { changeMachine } from '../../lib/options/machines/change-machines.ts';
import { parseMachineId, readShownMachine } from '../../lib/options/machines/machine.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.update, async (request) => {
  const admin = { by: request.claims.id, source: sourceOf(request) };
  const id = parseMachineId(request.pathParameters?.machine);
  await changeMachine(id, request.body, admin);
  return { statusCode: 200, body: await readShownMachine(id) };
});
