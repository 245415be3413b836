import * as contract from '../../lib/contract/v1-users.ts';
import { anyone, endpoint } from '../../lib/http/endpoint.ts';
import { parseUserId } from '../../lib/users/user.ts';
import { getMemoryUser } from './users-in-memory.ts';

/** GET /api/v1/users/{id} */
export const handler = endpoint(contract.getMemoryUser, anyone, ({ pathParameters }) => ({
  statusCode: 200,
  body: getMemoryUser(parseUserId(pathParameters?.id)),
}));
