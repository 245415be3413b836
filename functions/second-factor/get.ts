import { protectedEndpoint, requireBearer } from '../../lib/http/access.ts';
import { factorStanding } from '../../lib/options/second-factor/state.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.get, (request) => ({
  statusCode: 200,
  body: factorStanding(requireBearer(request)),
}));
