/** How responses show a user (functions/README.md, Responses). */

import { config, hasIdentities, hasSecondFactors } from '../ground/settings.ts';
import { factorStanding } from '../options/second-factor/state.ts';
import { isWaiting, verifiedAs } from '../options/verified-addresses/address.ts';
import type { ListedUser, StoredIdentity, StoredUser } from '../users/item.ts';
import type { User } from '../users/user.ts';

/**
 * The fields of a user that responses show.
 * @param caller users themselves and admins also see the address that waits for its link, and admins
 *   whether the user is suspended
 */
export function shownUser(user: ListedUser, caller: Partial<Pick<User, 'id' | 'role'>> = {}): User {
  const { id, name, email, role, created_at, email_verified, pending_email, suspended_at } = user;
  const isForAdmin = caller.role === 'admin';
  return {
    id,
    name,
    email,
    role,
    created_at,
    ...verifiedAs(email_verified === true), // verified addresses
    ...((isForAdmin || caller.id === id) && isWaiting(user) ? { pending_email } : {}),
    ...(isForAdmin && suspended_at ? { suspended_at } : {}), // suspension
  };
}

/** The fields that admins see besides where only one user is shown, of the options that are on. */
export function shownDetails(user: StoredUser) {
  return {
    ...(hasSecondFactors(config) ? { second_factor: factorStanding(user) } : {}),
    ...(hasIdentities(config) ? { identities: (user.identities ?? []).map(shownIdentity) } : {}),
  };
}

/** An identity as responses show it. */
export function shownIdentity({ id, issuer, email, created_at }: StoredIdentity) {
  return { id, issuer, email, created_at };
}
