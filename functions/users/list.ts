import { seesAll } from '../../lib/accounts/policy.ts';
import { shownUser, shownWithAttributes } from '../../lib/accounts/user-response.ts';
import { config } from '../../lib/ground/settings.ts';
import { callerOf, protectedEndpoint } from '../../lib/http/access.ts';
import { nextPageLink, pageOf } from '../../lib/http/cursor.ts';
import { listSeenBefore } from '../../lib/options/sessions/seen-before.ts';
import type { StoredUser } from '../../lib/users/item.ts';
import {
  having,
  isListed,
  listUsers,
  mostWhole,
  requireListable,
  storedUsersOf,
} from '../../lib/users/list.ts';
import { findStoredUser, findUserByEmail } from '../../lib/users/store.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.list, async (request) => {
  const { query } = request;
  const caller = callerOf(request);
  const { email, order = 'asc', role, search, seenBefore } = query;
  const showsAttributes = query.attributes !== undefined;
  const limit = query.limit ?? (showsAttributes ? mostWhole : undefined);
  requireListable(query);
  // Cursors are signed for this scope, because each order, each role and each search makes a list of its own.
  const scope = JSON.stringify(
    seenBefore === undefined ? ['users', order, role, search] : ['seen', order, seenBefore],
  );
  const { after } = await pageOf(query, scope);
  const show = (user: StoredUser) =>
    (showsAttributes ? shownWithAttributes : shownUser)(user, caller);
  const only = (user: StoredUser | undefined) => ({
    statusCode: 200,
    body: user && isListed(user, query) ? [show(user)] : [],
  });
  if (config.accounts === 'private' && !seesAll(caller)) {
    return only(request.bearer ?? (await findStoredUser(caller.id ?? 0))); // private accounts
  }
  if (seenBefore !== undefined) {
    // sessions
    const asked = { day: seenBefore, order, limit: limit ?? mostWhole, after };
    const { seen, next } = await listSeenBefore(asked);
    return {
      statusCode: 200,
      headers: await nextPageLink(request, scope, next),
      body: seen.map(({ user, seenOn }) => ({ ...show(user), last_seen_on: seenOn })),
    };
  }
  if (email !== undefined) return only(await findUserByEmail(email));
  const matches = search === undefined ? undefined : having(search);
  const { users, next } = await listUsers({ limit, order, role, matches, after });
  return {
    statusCode: 200,
    headers: await nextPageLink(request, scope, next),
    body: showsAttributes
      ? (await storedUsersOf(users)).map(show) // attributes
      : users.map((user) => shownUser(user, caller)),
  };
});
