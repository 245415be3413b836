import { DomainError } from '../../lib/errors.ts';
import { findStoredFor, protectedEndpoint } from '../../lib/http/access.ts';
import { config, hasIdentities, hasSecondFactors } from '../../lib/settings.ts';
import { factorStanding, type StoredUser, shownIdentity, toUser } from '../../lib/users/items.ts';
import * as contract from './contract.ts';

/** What only admins see, of the options that are on. */
const detailsOf = (user: StoredUser) => ({
  ...(hasSecondFactors(config) ? { second_factor: factorStanding(user) } : {}),
  ...(hasIdentities(config) ? { identities: (user.identities ?? []).map(shownIdentity) } : {}),
});

export const handler = protectedEndpoint(contract.get, async (request) => {
  const user = await findStoredFor(request, request.id);
  if (!user) throw new DomainError('USER_NOT_FOUND');
  const details = request.claims.role === 'admin' ? detailsOf(user) : {};
  return { statusCode: 200, body: { ...toUser(user, request.claims), ...details } };
});
