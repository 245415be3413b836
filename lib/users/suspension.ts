/** Users who may not log in until the suspension is lifted (functions/README.md, Suspension). */
import type { Step } from '../dynamodb/client.ts';
import { besideAnotherAdmin } from './admins.ts';
import type { StoredUser } from './items.ts';
import { endedSessions } from './sessions.ts';
import { requireAdmin, rewriteUser, writeUser } from './write.ts';

/**
 * Suspends a user, and ends all sessions of the user, unless that is the last admin: when two admins
 * suspend each other, one of them fails.
 * @returns false when the user was suspended already
 * @throws {DomainError} USER_NOT_FOUND, LAST_ADMIN_SUSPENSION, STORAGE_FAULT
 */
export const suspendUser = async (id: number, now = new Date()): Promise<boolean> =>
  rewriteUser(id, async (user: StoredUser) => {
    if (user.suspended_at !== undefined) return false;
    const change = { suspended_at: now.toISOString(), ...endedSessions(user) };
    const write = (...steps: Step[]) => writeUser(user, change, { steps });
    const written = await (user.role === 'admin'
      ? besideAnotherAdmin(id, 'LAST_ADMIN_SUSPENSION', write)
      : write());
    return written && true;
  });

/**
 * Lifts the suspension of a user.
 * @returns false when the user is not suspended
 * @param by id of the caller, who must be stored as an admin: without sessions, admins who are suspended
 *   themselves may have a token
 * @throws {DomainError} USER_NOT_FOUND, FORBIDDEN, STORAGE_FAULT
 */
export const liftSuspension = async (id: number, by: number): Promise<boolean> =>
  rewriteUser(id, async (user: StoredUser) => {
    if (user.suspended_at === undefined) return false;
    const steps = [requireAdmin(by)];
    return (await writeUser(user, { suspended_at: undefined }, { steps })) && true;
  });
