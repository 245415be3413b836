/** How admins suspend users, and lift suspensions (functions/README.md, Suspension). */
import { recording } from '../audit/record.ts';
import type { Source } from '../ground/source.ts';
import { invitationLinkVoided } from '../options/invitations/invitation.ts';
import { sessionsEnded } from '../options/sessions/sessions.ts';
import { suspended, suspensionLifted } from '../options/suspension/suspension.ts';
import { noAddressAwaited } from '../options/verified-addresses/address.ts';
import { keepingAnAdmin } from '../users/admins.ts';
import { isSuspended } from '../users/user.ts';
import { adminRequired, rewriteUser, writeUser } from '../users/write.ts';

/**
 * Suspends a user who is not the last admin, ends all sessions of the user and voids all mailed links: when two admins
 * suspend each other, one of them fails. A user who is already suspended is not changed, and no entry is written.
 * @throws {DomainError} USER_NOT_FOUND, LAST_ADMIN_SUSPENSION, STORAGE_FAULT
 */
export async function suspendUser(id: number, by: number, source: Source): Promise<void> {
  const details = { suspended: true };
  const now = new Date();
  await recording({ source, action: 'UPDATE', by, on: id, details }, () =>
    rewriteUser(id, async (user) => {
      if (isSuspended(user)) return { isChanged: false };
      await keepingAnAdmin(user, 'LAST_ADMIN_SUSPENSION', (otherAdminRequired) =>
        writeUser(
          user,
          suspended(user, now), // links
          sessionsEnded(user), // sessions
          invitationLinkVoided(user, now), // invitations
          noAddressAwaited, // verified addresses
          otherAdminRequired,
        ),
      );
      return { isChanged: true };
    }),
  );
}

/**
 * Lifts the suspension of a user. A user who is not suspended is not changed, and no entry is written.
 * @param by the id of the caller, who must be stored as an admin: without sessions, admins who are suspended
 *   themselves may still have a token
 * @throws {DomainError} USER_NOT_FOUND, FORBIDDEN, STORAGE_FAULT
 */
export async function liftSuspension(id: number, by: number, source: Source): Promise<void> {
  const details = { suspended: false };
  await recording({ source, action: 'UPDATE', by, on: id, details }, () =>
    rewriteUser(id, async (user) => {
      if (!isSuspended(user)) return { isChanged: false };
      await writeUser(user, suspensionLifted, adminRequired(by));
      return { isChanged: true };
    }),
  );
}
