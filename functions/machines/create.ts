import { protectedEndpoint } from '../../lib/http/access.ts';
import { sourceOf } from '../../lib/http/request.ts';
import { createMachine } from '../../lib/options/machines/change-machines.ts';
import { shownMachine } from '../../lib/options/machines/machine.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.create, async (request) => {
  const admin = { by: request.claims.id, source: sourceOf(request) };
  const { machine, key } = await createMachine(request.body, admin);
  return { statusCode: 201, body: { ...shownMachine(machine), key } };
});
