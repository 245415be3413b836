/** The ways into an account: the password, open sessions, and the ways that options add. */
import { identitiesUnlinked } from '../options/identities/identities.ts';
import { invitationAccepted } from '../options/invitations/invitation.ts';
import { hasPasskey, passkeysRemoved } from '../options/passkeys/passkeys.ts';
import { codeFactorRemoved, hasCodes, mustHaveFactor } from '../options/second-factor/state.ts';
import { sessionsDeleted, sessionsEnded } from '../options/sessions/sessions.ts';
import { type Change, merged, type StoredUser } from '../users/item.ts';
import { makerForgotten } from '../users/write.ts';

export function passwordSet(password_hash: string): Change {
  return merged(
    { fields: { password_hash } },
    invitationAccepted, // invitations
  );
}

/**
 * The change that accompanies a new password when somebody regains an account by its mailbox, or by a command on the
 * machine: the password becomes the only way in. The mailbox alone must not replace a second factor.
 */
export function accountReclaimed(user: StoredUser, by: 'mailbox' | 'machine'): Required<Change> {
  const keepsPasskeys = by === 'mailbox' && mustHaveFactor(user); // second factor
  return merged(
    makerForgotten, // users made by a caller
    keepsPasskeys ? identitiesUnlinked(user) : otherWaysRemoved(user), // identities, passkeys
    sessionsEnded(user), // sessions
  );
}

/**
 * The change after which nobody can log in without the password. It accompanies a password that somebody else sets,
 * because whoever knew the password before may have added another way in.
 */
export function otherWaysRemoved(user: StoredUser): Required<Change> {
  return merged(
    identitiesUnlinked(user), // identities
    passkeysRemoved(user), // passkeys
  );
}

/** The change that removes the second factor of a user, and the passkeys, which are second factors too. */
export function allFactorsRemoved(user: StoredUser): Required<Change> {
  return merged(
    hasCodes(user) ? codeFactorRemoved : {}, // second factor
    hasPasskey(user) ? passkeysRemoved(user) : {}, // passkeys
  );
}

export function waysInReleased(user: StoredUser): Change {
  return merged(
    otherWaysRemoved(user), // identities, passkeys
    sessionsDeleted(user), // sessions
  );
}
