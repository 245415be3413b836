import { protectedEndpoint } from '../../lib/http/access.ts';
import { shownMachines } from '../../lib/options/machines/machine.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.list, async () => ({
  statusCode: 200,
  body: { data: await shownMachines() },
}));
