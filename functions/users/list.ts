import * as contract from '../../lib/contract/users.ts';
import { invalidParameter } from '../../lib/errors.ts';
import { authenticated, findUserFor } from '../../lib/http/access.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { nextPageLink, pageOf, parseQuery } from '../../lib/http/query.ts';
import type { AuthenticatedRequest } from '../../lib/http/request.ts';
import { config } from '../../lib/settings.ts';
import { toUserFor } from '../../lib/users/items.ts';
import { findUserByEmail, listUsers } from '../../lib/users/store.ts';
import { emailKey } from '../../lib/users/user.ts';

/** What cursors are signed for: each order is a list of its own. */
const scopes = { asc: 'users', desc: 'users?order=desc' } as const;

const onlyTheCaller = async (request: AuthenticatedRequest, email: string | undefined) => {
  const user = await findUserFor(request, request.claims.id);
  const isShown = user && (email === undefined || emailKey(email) === emailKey(user.email));
  return { statusCode: 200, body: isShown ? [user] : [] };
};

const onlyTheHolder = async ({ claims }: AuthenticatedRequest, email: string) => {
  const { user } = await findUserByEmail(email);
  return { statusCode: 200, body: user ? [toUserFor(claims)({ ...user })] : [] };
};

/** GET /api/users */
export const handler = endpoint(contract.listUsers, authenticated, async (request) => {
  const query = parseQuery(contract.listUsers, request.queryStringParameters);
  const { email, limit, order = 'asc' } = query;
  if (email !== undefined && query.cursor !== undefined) {
    throw invalidParameter('cursor', 'must not be given with email');
  }
  const { after } = await pageOf(query, scopes[order]);
  if (config.userDirectory === 'closed' && request.claims.role !== 'admin') {
    return onlyTheCaller(request, email);
  }
  if (email !== undefined) return onlyTheHolder(request, email);
  const { users, next } = await listUsers({ limit, order, after }, toUserFor(request.claims));
  return {
    statusCode: 200,
    headers: await nextPageLink(request, scopes[order], next),
    body: users,
  };
});
