/** The ways into an account: the password, open sessions, and those that options give. */
import { identitiesReleased, identitiesUnlinked } from '../options/identities/identities.ts';
import { invitationAccepted } from '../options/invitations/invitation.ts';
import { hasPasskey, passkeysForgotten, passkeysRemoved } from '../options/passkeys/passkeys.ts';
import { hasFactor, mustHaveFactor, noFactor } from '../options/second-factor/state.ts';
import { sessionsEnded, sessionsForgotten } from '../options/sessions/sessions.ts';
import { type Change, merged, type StoredUser } from '../users/item.ts';
import { makerForgotten } from '../users/write.ts';

/**
 * The change after which a new password is the only way in, for whoever proves by the mailbox, or on the
 * machine, to be the one who may have it. The mailbox alone must not replace a second factor.
 */
export function accountReclaimed(
  user: StoredUser,
  password_hash: string,
  by: 'mailbox' | 'machine',
): Required<Change> {
  const keepsPasskeys = by === 'mailbox' && mustHaveFactor(user);
  return merged(
    { fields: { password_hash }, ways: ['password'] },
    makerForgotten, // users made by a caller
    invitationAccepted, // invitations
    keepsPasskeys ? identitiesUnlinked(user) : otherWaysRemoved(user), // second factor
    sessionsEnded(user), // sessions
  );
}

/**
 * The change after which nobody logs in without the password: for one that somebody else sets, because
 * whoever knew the one before may have added another way.
 */
export function otherWaysRemoved(user: StoredUser): Required<Change> {
  return merged(
    identitiesUnlinked(user), // identities
    passkeysRemoved(user), // passkeys
  );
}

/** The change after which a user has no second factor, and no passkey, which is one. */
export function factorsRemoved(user: StoredUser): Required<Change> {
  return merged(
    hasFactor(user) ? noFactor : {}, // second factor
    hasPasskey(user) ? passkeysRemoved(user) : {}, // passkeys
  );
}

/** The change by which the items of the ways in go with a user who is deleted. */
export function waysInForgotten(user: StoredUser): Change {
  return merged(
    identitiesReleased(user), // identities
    passkeysForgotten(user), // passkeys
    sessionsForgotten(user), // sessions
  );
}
