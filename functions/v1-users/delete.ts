import * as contract from '../../lib/contract/v1-users.ts';
import { anyone, endpoint } from '../../lib/http/endpoint.ts';
import { parseUserId } from '../../lib/users/user.ts';
import { deleteMemoryUser } from './users-in-memory.ts';

/** DELETE /api/v1/users/{id} */
export const handler = endpoint(contract.deleteMemoryUser, anyone, ({ pathParameters }) => {
  deleteMemoryUser(parseUserId(pathParameters?.id));
  return { statusCode: 204 };
});
