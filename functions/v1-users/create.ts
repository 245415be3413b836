import * as contract from '../../lib/contract/v1-users.ts';
import { anyone, endpoint } from '../../lib/http/endpoint.ts';
import { parseNameAndEmail } from '../../lib/users/name-and-email.ts';
import { createMemoryUser } from './users-in-memory.ts';

/** POST /api/v1/users */
export const handler = endpoint(contract.createMemoryUser, anyone, ({ body }) => ({
  statusCode: 201,
  body: createMemoryUser(parseNameAndEmail(body)),
}));
