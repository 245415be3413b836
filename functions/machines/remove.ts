import { protectedEndpoint } from '../../lib/http/access.ts';
import { sourceOf } from '../../lib/http/request.ts';
import { removeMachine } from '../../lib/options/machines/change-machines.ts';
import { parseMachineId } from '../../lib/options/machines/machine.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.remove, async (request) => {
  const admin = { by: request.claims.id, source: sourceOf(request) };
  await removeMachine(parseMachineId(request.pathParameters?.machine), admin);
  return { statusCode: 204 };
});
