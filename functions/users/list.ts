import * as contract from '../../lib/contract/users.ts';
import { authenticated, findUserFor } from '../../lib/http/access.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { nextPageLink, pageOf, parseQuery } from '../../lib/http/query.ts';
import type { AuthenticatedRequest } from '../../lib/http/request.ts';
import { config } from '../../lib/settings.ts';
import { listUsers } from '../../lib/users/store.ts';

const scope = 'users';

const onlyTheCaller = async (request: AuthenticatedRequest) => {
  const user = await findUserFor(request, request.claims.id);
  return { statusCode: 200, body: user ? [user] : [] };
};

/** GET /api/users */
export const handler = endpoint(contract.listUsers, authenticated, async (request) => {
  const query = parseQuery(contract.listUsers, request.queryStringParameters);
  const { after } = await pageOf(query, scope);
  if (config.userDirectory === 'closed' && request.claims.role !== 'admin') {
    return onlyTheCaller(request);
  }
  const { users, next } = await listUsers({ limit: query.limit, after });
  return {
    statusCode: 200,
    headers: await nextPageLink(request, scope, next),
    body: users,
  };
});
