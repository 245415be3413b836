/** The ways into an account: the password, open sessions, and those that options give. */
import type { Step } from '../dynamodb/client.ts';
import { unlinkedAll, unlinking } from '../options/identities/identities.ts';
import { notInvited } from '../options/invitations/invitation.ts';
import { forgottenPasskeys, hasPasskey, removing } from '../options/passkeys/passkeys.ts';
import { hasFactor, withoutFactor } from '../options/second-factor/state.ts';
import { forgottenSessions, withoutSessions } from '../options/sessions/sessions.ts';
import type { StoredUser } from '../users/item.ts';
import { type Change, merged } from '../users/write.ts';
import { mustHaveFactor } from './policy.ts';

/**
 * The change after which a new password is the only way in, for whoever proves by the mailbox, or on the
 * machine, to be the one who may have it. The mailbox alone must not replace a second factor.
 */
export function reclaimed(
  user: StoredUser,
  password_hash: string,
  by: 'mailbox' | 'machine',
): Required<Change> {
  const keepsPasskeys = by === 'mailbox' && mustHaveFactor(user);
  return merged(
    { fields: { password_hash, made_by: undefined }, ways: ['password'] }, // users made by a caller
    { fields: notInvited }, // invitations
    keepsPasskeys ? unlinkedAll(user) : withoutOtherWays(user), // second factor
    { fields: withoutSessions(user) }, // sessions
  );
}

/**
 * The change after which nobody logs in without the password: for one that somebody else sets, because
 * whoever knew the one before may have added another way.
 */
export function withoutOtherWays(user: StoredUser): Required<Change> {
  return merged(
    unlinkedAll(user), // identities
    removing(user), // passkeys
  );
}

/** The change after which a user has no second factor, and no passkey, which is one. */
export function factorsGone(user: StoredUser): Required<Change> {
  return merged(
    { fields: hasFactor(user) ? withoutFactor : {} }, // second factor
    hasPasskey(user) ? removing(user) : { fields: {} }, // passkeys
  );
}

/** The steps by which the ways in go with a user who is deleted. */
export function waysInGone(user: StoredUser): readonly Step[] {
  return [
    ...unlinking(user), // identities
    ...forgottenPasskeys(user), // passkeys
    ...forgottenSessions(user), // sessions
  ];
}
