import * as contract from '../../lib/contract/v1-users.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { parseNameAndEmail } from '../../lib/users/name-and-email.ts';
import { parseUserId } from '../../lib/users/user.ts';
import { anyoneOnKnownUser, changeMemoryUser } from './users-in-memory.ts';

/** PUT /api/v1/users/{id} */
export const handler = endpoint(
  contract.replaceMemoryUser,
  anyoneOnKnownUser,
  ({ body, pathParameters }) => {
    const replacement = parseNameAndEmail(body);
    const user = changeMemoryUser(parseUserId(pathParameters?.id), replacement);
    return { statusCode: 200, body: user };
  },
);
