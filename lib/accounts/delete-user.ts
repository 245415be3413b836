/** How users are deleted, whom others may change at the same time (functions/README.md, Own account). */
import { record, recordingFaults } from '../audit/record.ts';
import { type Step, transact } from '../dynamodb/client.ts';
import { config } from '../ground/settings.ts';
import type { Source } from '../ground/source.ts';
import { isInvited } from '../options/invitations/invitation.ts';
import { tryToNotify } from '../options/mails/hand-over.ts';
import { besideAnotherAdmin } from '../users/admins.ts';
import { type StoredUser, userKey } from '../users/item.ts';
import { deletionDetails } from '../users/user.ts';
import { releaseEmail, rewriteUser, unchanged } from '../users/write.ts';
import { type OwnConfirmation, rewriteConfirmed } from './confirmation.ts';
import { requireFactorSession } from './policy.ts';
import { waysInGone } from './ways-in.ts';

/**
 * Deletes a user for an admin, and frees the address.
 * @param by the id of the admin
 * @throws {DomainError} USER_NOT_FOUND, STORAGE_FAULT
 */
export async function deleteUser(id: number, by: number, source: Source): Promise<void> {
  const deletion = { ...source, action: 'DELETE', user_id: by, resource_id: id } as const;
  const removing = rewriteUser(id, (user) => remove(user));
  const deleted = await recordingFaults(deletion, removing);
  await record({ ...deletion, details: deletionDetails(deleted) });
  if (isInvited(deleted)) return; // invitations
  await tryToNotify(deleted, ['account'], source, { byAdmin: by !== id }); // mails
}

/**
 * Deletes a user whom nobody has changed since the user was read, with all ways in, and frees the address.
 * @param steps further conditions at that instant
 * @returns the user, as it was
 * @throws {Overtaken} when others have changed the user
 * @throws {DomainError} STORAGE_FAULT, and the errors of the steps
 */
export async function remove(user: StoredUser, ...steps: readonly Step[]): Promise<StoredUser> {
  await transact([
    [{ Delete: { TableName: config.usersTable, Key: userKey(user.id), ...unchanged(user) } }],
    releaseEmail(user),
    ...waysInGone(user),
    ...steps,
  ]);
  return user;
}

/**
 * Deletes a caller, unless that is the last admin: when two admins delete themselves, one of them fails.
 * @param given by which the caller confirms it
 * @throws {DomainError} USER_NOT_FOUND, SECOND_FACTOR_REQUIRED, LAST_ADMIN, STORAGE_FAULT, and what the
 *   confirmation throws
 */
export async function deleteOwnAccount(given: OwnConfirmation, source: Source): Promise<void> {
  const { caller } = given;
  const { id } = caller;
  requireFactorSession(caller, caller); // passkeys
  const deletion = { ...source, action: 'DELETE', user_id: id, resource_id: id } as const;
  const removing = rewriteConfirmed(given, async (user) => {
    requireFactorSession(user, caller); // passkeys
    if (user.role !== 'admin') return remove(user);
    return besideAnotherAdmin(id, 'LAST_ADMIN', (otherIsAdmin) => remove(user, otherIsAdmin));
  });
  const deleted = await recordingFaults(deletion, removing);
  await record({ ...deletion, details: deletionDetails(deleted) });
  await tryToNotify(deleted, ['account'], source); // mails
}
