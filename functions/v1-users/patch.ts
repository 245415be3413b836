import * as contract from '../../lib/contract/v1-users.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { parseNameOrEmail } from '../../lib/users/name-and-email.ts';
import { parseUserId } from '../../lib/users/user.ts';
import { anyoneOnKnownUser, changeMemoryUser } from './users-in-memory.ts';

/** PATCH /api/v1/users/{id} */
export const handler = endpoint(
  contract.changeMemoryUser,
  anyoneOnKnownUser,
  ({ body, pathParameters }) => {
    const changes = parseNameOrEmail(body);
    const user = changeMemoryUser(parseUserId(pathParameters?.id), changes);
    return { statusCode: 200, body: user };
  },
);
