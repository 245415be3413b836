import { seesAll } from '../../lib/accounts/policy.ts';
import { shownInList, shownUser } from '../../lib/accounts/user-response.ts';
import { config } from '../../lib/ground/settings.ts';
import { callerOf, protectedEndpoint } from '../../lib/http/access.ts';
import { nextPageLink, pageOf } from '../../lib/http/cursor.ts';
import { listSeenBefore } from '../../lib/options/sessions/seen-before.ts';
import type { StoredUser } from '../../lib/users/item.ts';
import {
  isListed,
  listUsers,
  matching,
  mostWhole,
  requireListable,
  storedUsersOf,
} from '../../lib/users/list.ts';
import { findStoredUser, findUserByEmail } from '../../lib/users/store.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.list, async (request) => {
  const { query } = request;
  const caller = callerOf(request);
  const { email, order = 'asc', role, search, status, auditor, seenBefore: day } = query;
  const { isWhole, show } = shownInList(query, caller);
  const limit = isWhole ? Math.min(query.limit ?? mostWhole, mostWhole) : query.limit;
  requireListable(query);
  const filters = [status, auditor, day].filter((filter) => filter !== undefined);
  // Cursors are signed for this scope, because each order, filter and day makes a list of its own.
  const scope = JSON.stringify(['users', order, role, search, ...filters]);
  const { after } = await pageOf(query, scope);
  const only = (user: StoredUser | undefined) => ({
    statusCode: 200,
    body: user && isListed(user, query) ? [show(user)] : [],
  });
  if (config.accounts === 'private' && !seesAll(caller)) {
    return only(request.bearer ?? (await findStoredUser(caller.id ?? 0))); // private accounts
  }
  if (day !== undefined) {
    const { seen, next } = await listSeenBefore({ day, order, limit, after }); // sessions
    const headers = await nextPageLink(request, scope, next);
    const body = seen.map(({ user, seenOn }) => ({ ...show(user), last_seen_on: seenOn }));
    return { statusCode: 200, headers, body };
  }
  if (email !== undefined) return only(await findUserByEmail(email));
  const matches = matching(query);
  const { users, next } = await listUsers({ limit, order, role, matches, after });
  return {
    statusCode: 200,
    headers: await nextPageLink(request, scope, next),
    body: isWhole
      ? (await storedUsersOf(users)).filter((user) => isListed(user, query)).map(show)
      : users.map((user) => shownUser(user, caller)),
  };
});
