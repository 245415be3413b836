/** The ways into an account: the password, open sessions, and those that options give. */
import type { Step } from '../dynamodb/client.ts';
import { unlinkedAll, unlinking } from '../options/identities/identities.ts';
import { notInvited } from '../options/invitations/invitation.ts';
import { forgottenSessions, withoutSessions } from '../options/sessions/sessions.ts';
import type { StoredUser } from '../users/item.ts';
import { type Change, merged } from '../users/write.ts';

/**
 * The change after which a new password is the only way in, for whoever proves by the mailbox, or on the
 * machine, to be the one who may have it.
 */
export function reclaimed(user: StoredUser, password_hash: string): Required<Change> {
  return merged(
    { fields: { password_hash, made_by: undefined }, ways: ['password'] }, // users made by a caller
    { fields: notInvited }, // invitations
    withoutOtherWays(user),
    { fields: withoutSessions(user) }, // sessions
  );
}

/**
 * The change after which nobody logs in without the password: for one that somebody else sets, because
 * whoever knew the one before may have added another way.
 */
export function withoutOtherWays(user: StoredUser): Required<Change> {
  return merged(unlinkedAll(user)); // identities
}

/** The steps by which the ways in go with a user who is deleted. */
export function waysInGone(user: StoredUser): readonly Step[] {
  return [
    ...unlinking(user), // identities
    ...forgottenSessions(user), // sessions
  ];
}
