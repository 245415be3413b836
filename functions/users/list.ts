import { shownUser } from '../../lib/accounts/shown.ts';
import { invalidParameter } from '../../lib/ground/errors.ts';
import { config } from '../../lib/ground/settings.ts';
import { findStoredFor, protectedEndpoint } from '../../lib/http/access.ts';
import { nextPageLink, pageOf } from '../../lib/http/query.ts';
import type { Claims } from '../../lib/keys/token.ts';
import { emailKey } from '../../lib/users/address.ts';
import type { StoredUser } from '../../lib/users/item.ts';
import { having, listUsers } from '../../lib/users/list.ts';
import { findUserByEmail } from '../../lib/users/store.ts';
import * as contract from './contract.ts';

interface Filter {
  readonly email?: string | undefined;
  readonly role?: 'admin' | undefined;
  readonly search?: string | undefined;
}

export const handler = protectedEndpoint(contract.list, async (request) => {
  const { claims, query } = request;
  const { email, limit, order = 'asc', role, search } = query;
  if (email !== undefined && query.cursor !== undefined) {
    throw invalidParameter('cursor', 'must not be given with email');
  }
  // Cursors are signed for it: each order is a list of its own, and so are the admins, and each search.
  const scope = JSON.stringify(['users', order, role, search]);
  const { after } = await pageOf(query, scope);
  if (config.accounts === 'private' && claims.role !== 'admin') {
    return only(await findStoredFor(request, claims.id), query, claims); // private accounts
  }
  if (email !== undefined) return only(await findUserByEmail(email), query, claims);
  const matches = search === undefined ? undefined : having(search);
  const { users, next } = await listUsers({ limit, order, role, matches, after });
  return {
    statusCode: 200,
    headers: await nextPageLink(request, scope, next),
    body: users.map((user) => shownUser(user, claims)),
  };
});

/** A list of one user, if there is one and the filter shows it. */
function only(
  user: StoredUser | undefined,
  { email = user?.email ?? '', role, search = '' }: Filter,
  caller: Claims,
) {
  const isShown =
    user &&
    emailKey(email) === emailKey(user.email) &&
    user.role === (role ?? user.role) &&
    having(search)(user);
  return { statusCode: 200, body: isShown ? [shownUser(user, caller)] : [] };
}
