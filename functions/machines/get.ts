import { protectedEndpoint } from '../../lib/http/access.ts';
import { parseMachineId, readShownMachine } from '../../lib/options/machines/machine.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.get, async (request) => ({
  statusCode: 200,
  body: await readShownMachine(parseMachineId(request.pathParameters?.machine)),
}));
