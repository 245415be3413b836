import * as contract from '../../lib/contract/v1-users.ts';
import { anyone, endpoint } from '../../lib/http/endpoint.ts';
import { listMemoryUsers } from './users-in-memory.ts';

/** GET /api/v1/users */
export const handler = endpoint(contract.listMemoryUsers, anyone, () => ({
  statusCode: 200,
  body: listMemoryUsers().map(({ id, name, email }) => ({ id, name, email })),
}));
