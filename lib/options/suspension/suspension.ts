/** Users who may not log in until the suspension is lifted (functions/README.md, Suspension). */
import { besideAnotherAdmin } from '../../users/admins.ts';
import { isSuspended } from '../../users/user.ts';
import { requireAdmin, rewriteUser, writeUser } from '../../users/write.ts';
import { withoutInvitationLink } from '../invitations/invitation.ts';
import { withoutSessions } from '../sessions/sessions.ts';
import { waitingForNone } from '../verified-addresses/address.ts';

/**
 * Suspends a user, ends all sessions of the user and voids all mailed links, unless that is the last admin: when two admins
 * suspend each other, one of them fails.
 * @returns false when the user was suspended already
 * @throws {DomainError} USER_NOT_FOUND, LAST_ADMIN_SUSPENSION, STORAGE_FAULT
 */
export function suspendUser(id: number, now = new Date()): Promise<boolean> {
  return rewriteUser(id, async (user) => {
    if (isSuspended(user)) return false;
    const fields = {
      suspended_at: now.toISOString(),
      suspensions: (user.suspensions ?? 0) + 1, // links
      ...withoutSessions(user),
      ...withoutInvitationLink(user, now), // invitations
      ...waitingForNone, // verified addresses
    };
    if (user.role !== 'admin') await writeUser(user, { fields });
    else {
      await besideAnotherAdmin(id, 'LAST_ADMIN_SUSPENSION', (otherIsAdmin) =>
        writeUser(user, { fields, steps: [otherIsAdmin] }),
      );
    }
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
    await writeUser(user, { fields: { suspended_at: undefined }, steps: [requireAdmin(by)] });
    return true;
  });
}
