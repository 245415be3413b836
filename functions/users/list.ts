import { invalidParameter } from '../../lib/errors.ts';
import { findUserFor, protectedEndpoint } from '../../lib/http/access.ts';
import { nextPageLink, pageOf } from '../../lib/http/query.ts';
import type { AuthenticatedRequest } from '../../lib/http/request.ts';
import { config } from '../../lib/settings.ts';
import { toUser } from '../../lib/users/items.ts';
import { having, listUsers } from '../../lib/users/list.ts';
import { findUserByEmail } from '../../lib/users/store.ts';
import { emailKey, type User } from '../../lib/users/user.ts';
import * as contract from './contract.ts';

interface Filter {
  readonly email?: string | undefined;
  readonly role?: 'admin' | undefined;
  readonly search?: string | undefined;
}

/** A list of one user, if there is one and the filter shows it. */
const only = (user: User | undefined, { email = user?.email ?? '', role, search = '' }: Filter) => {
  const isShown =
    user &&
    emailKey(email) === emailKey(user.email) &&
    user.role === (role ?? user.role) &&
    having(search)(user);
  return { statusCode: 200, body: isShown ? [user] : [] };
};

const findHolder = async ({ claims }: AuthenticatedRequest, email: string) => {
  const user = await findUserByEmail(email);
  return user && toUser(user, claims);
};

export const handler = protectedEndpoint(contract.list, async (request) => {
  const { query } = request;
  const { email, limit, order = 'asc', role, search } = query;
  if (email !== undefined && query.cursor !== undefined) {
    throw invalidParameter('cursor', 'must not be given with email');
  }
  // Cursors are signed for it: each order is a list of its own, and so are the admins, and each search.
  const scope = JSON.stringify(['users', order, role, search]);
  const { after } = await pageOf(query, scope);
  if (config.accounts === 'private' && request.claims.role !== 'admin') {
    return only(await findUserFor(request, request.claims.id), query);
  }
  if (email !== undefined) return only(await findHolder(request, email), query);
  const matches = search === undefined ? undefined : having(search);
  const page = { limit, order, role, matches, after };
  const { users, next } = await listUsers(page, request.claims);
  return {
    statusCode: 200,
    headers: await nextPageLink(request, scope, next),
    body: users,
  };
});
