/** How a user gets another address (functions/README.md, Verified addresses). */
import { DomainError } from '../ground/errors.ts';
import { config, hidesAccounts } from '../ground/settings.ts';
import type { Claims } from '../keys/token.ts';
import { invitationLinkVoided, isInvited } from '../options/invitations/invitation.ts';
import { linkVoided } from '../options/links/mailed-link.ts';
import {
  addressUnverified,
  isWaiting,
  noAddressAwaited,
  verifiedAs,
} from '../options/verified-addresses/address.ts';
import { addressAwaited } from '../options/verified-addresses/address-link.ts';
import { requireVerifiable } from '../users/fields.ts';
import { type Change, merged, type StoredUser } from '../users/item.ts';
import { findUserByEmail } from '../users/store.ts';
import { emailTaken } from '../users/write.ts';

/**
 * The change of the address. Where addresses are verified, another one of one's own waits for its
 * link, and the present one ends the wait. Where nobody may know who has an account, this does not look
 * for a holder, who gets a mail instead.
 */
export async function newAddress(
  user: StoredUser,
  email: string | undefined,
  by: Pick<Claims, 'id' | 'role'>,
): Promise<Change> {
  const isOwn = user.id === by.id;
  if (email === undefined) return {};
  if (email === user.email) return isOwn && isWaiting(user) ? noAddressAwaited : {};
  requireVerifiable(email);
  if (!isOwn || config.emailVerification === 'off') {
    return merged(addressMoved(user, email), addressVerifiedBy(by, user));
  }
  const holder = hidesAccounts(config) ? undefined : await findUserByEmail(email);
  if (holder && holder.id !== user.id) throw new DomainError('EMAIL_REGISTERED');
  return addressAwaited(user, email);
}

/**
 * The change to another address of a user, at once. The link that was mailed to the address which the user
 * gives up, and may take again, is void.
 */
export function addressMoved(user: StoredUser, email: string): Change {
  if (email === user.email) return {};
  return merged(
    { fields: { email } },
    noAddressAwaited, // verified addresses
    invitationLinkVoided(user), // invitations
    emailTaken(user, email),
    config.mailFunctionUrl === '' ? {} : linkVoided('reset', user.id), // links
  );
}

/**
 * An address that an admin sets counts as verified, except the address of an invited user. While addresses are not
 * verified none does, and the mark of the address before must not pass to it.
 */
function addressVerifiedBy({ role }: Pick<Claims, 'role'>, user: StoredUser): Change {
  const isVerified = role === 'admin' && !isInvited(user); // invitations
  return { fields: { ...addressUnverified, ...verifiedAs(isVerified) } };
}
