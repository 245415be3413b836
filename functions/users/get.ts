import { seesAll } from '../../lib/accounts/policy.ts';
import { shownToReaders, shownWithAttributes } from '../../lib/accounts/user-response.ts';
import { config, hasSessions } from '../../lib/ground/settings.ts';
import { callerOf, protectedEndpoint } from '../../lib/http/access.ts';
import { readSeen } from '../../lib/options/sessions/seen.ts';
import { readUser } from '../../lib/users/store.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(contract.get, async (request) => {
  const caller = callerOf(request);
  const { id, bearer } = request;
  const showsSeen = hasSessions(config) && (seesAll(caller) || caller.id === id);
  const [user, last_seen_on] = await Promise.all([
    readUser(id, bearer),
    showsSeen ? readSeen(id) : undefined, // sessions
  ]);
  const details = seesAll(caller) ? shownToReaders(user) : {};
  const seen = showsSeen ? { last_seen_on } : {};
  return { statusCode: 200, body: { ...shownWithAttributes(user, caller), ...seen, ...details } };
});
