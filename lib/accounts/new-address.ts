/** How a user gets another address (functions/README.md, Verified addresses). */
import { DomainError } from '../ground/errors.ts';
import { config, hidesAccounts } from '../ground/settings.ts';
import type { Claims } from '../keys/token.ts';
import { isInvited, withoutInvitationLink } from '../options/invitations/invitation.ts';
import { voidLink } from '../options/links/link.ts';
import {
  isWaiting,
  unverified,
  verifiedAs,
  waitingForNone,
} from '../options/verified-addresses/address.ts';
import { waitingFor } from '../options/verified-addresses/link.ts';
import { requireVerifiable } from '../users/fields.ts';
import type { StoredUser } from '../users/item.ts';
import { findUserByEmail } from '../users/store.ts';
import { type Change, type Fields, merged, takeEmail } from '../users/write.ts';

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
  if (email === undefined) return { fields: {} };
  if (email === user.email) return { fields: isOwn && isWaiting(user) ? waitingForNone : {} };
  requireVerifiable(email);
  if (!isOwn || config.emailVerification === 'off') {
    return merged(movedTo(user, email), { fields: verifiedBy(by, user) });
  }
  const holder = hidesAccounts(config) ? undefined : await findUserByEmail(email);
  if (holder && holder.id !== user.id) throw new DomainError('EMAIL_REGISTERED');
  return waitingFor(user, email);
}

/**
 * The change to another address of a user, at once. The link that was mailed to the address which the user
 * gives up, and may take again, is void.
 */
export function movedTo(user: StoredUser, email: string): Change {
  if (email === user.email) return { fields: {} };
  return {
    fields: { email, ...waitingForNone, ...withoutInvitationLink(user) },
    steps: [
      ...takeEmail(user, email),
      ...(config.mailFunctionUrl === ''
        ? []
        : ([[{ Update: voidLink('reset', user.id) }]] as const)),
    ],
  };
}

/**
 * An address that an admin sets counts as verified, except the address of an invited user. While addresses are not
 * verified none does, and the mark of the address before must not pass to it.
 */
function verifiedBy({ role }: Pick<Claims, 'role'>, user: StoredUser): Fields {
  return { ...unverified, ...verifiedAs(role === 'admin' && !isInvited(user)) }; // invitations
}
