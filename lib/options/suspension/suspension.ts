/** Users who may not log in until the suspension is lifted (functions/README.md, Suspension). */
import { besideAnotherAdmin } from '../../users/admins.ts';
import { merged } from '../../users/item.ts';
import { isSuspended } from '../../users/user.ts';
import { adminRequired, rewriteUser, writeUser } from '../../users/write.ts';
import { invitationLinkVoided } from '../invitations/invitation.ts';
import { sessionsEnded } from '../sessions/sessions.ts';
import { noAddressAwaited } from '../verified-addresses/address.ts';

/**
 * Suspends a user who is not the last admin, ends all sessions of the user and voids all mailed links: when two
 * admins suspend each other, one of them fails.
 * @returns false when the user was suspended already
 * @throws {DomainError} USER_NOT_FOUND, LAST_ADMIN_SUSPENSION, STORAGE_FAULT
 */
export function suspendUser(id: number, now = new Date()): Promise<boolean> {
  return rewriteUser(id, async (user) => {
    if (isSuspended(user)) return false;
    const suspended = merged(
      { fields: { suspended_at: now.toISOString(), suspensions: (user.suspensions ?? 0) + 1 } }, // links
      sessionsEnded(user),
      invitationLinkVoided(user, now), // invitations
      noAddressAwaited, // verified addresses
    );
    await (user.role === 'admin'
      ? besideAnotherAdmin(id, 'LAST_ADMIN_SUSPENSION', (otherAdminRequired) =>
          writeUser(user, suspended, otherAdminRequired),
        )
      : writeUser(user, suspended));
    return true;
  });
}

/**
 * Lifts the suspension of a user.
 * @param by id of the caller, who must be stored as an admin: without sessions, admins who are suspended
 *   themselves may have a token
 * @returns false when the user is not suspended
 * @throws {DomainError} USER_NOT_FOUND, FORBIDDEN, STORAGE_FAULT
 */
export function liftSuspension(id: number, by: number): Promise<boolean> {
  return rewriteUser(id, async (user) => {
    if (!isSuspended(user)) return false;
    await writeUser(user, { fields: { suspended_at: undefined } }, adminRequired(by));
    return true;
  });
}
