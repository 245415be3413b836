/** How users are deleted, even while others change them (functions/README.md, Own account). */
import { transact } from '../dynamodb/client.ts';
import { config } from '../ground/settings.ts';
import type { Source } from '../ground/source.ts';
import { isInvited } from '../options/invitations/invitation.ts';
import { requireFactorOfPasskeyHolder } from '../options/second-factor/state.ts';
import { keepingAnAdmin } from '../users/admins.ts';
import { type Change, merged, type StoredUser, userKey } from '../users/item.ts';
import { deletionDetails } from '../users/user.ts';
import { emailReleased, rewriteUser, unchanged } from '../users/write.ts';
import { recordingAndNotifying } from './recording.ts';
import { type OwnConfirmation, rewriteConfirmed } from './rewrite-confirmed.ts';
import { waysInReleased } from './ways-in.ts';

/**
 * Deletes a user for an admin, and frees the address.
 * @throws {DomainError} USER_NOT_FOUND, STORAGE_FAULT
 */
export async function deleteUser(id: number, by: number, source: Source): Promise<void> {
  const deletion = { source, action: 'DELETE', by, on: id } as const;
  await recordingAndNotifying(deletion, async () => {
    const user = await rewriteUser(id, (read) => remove(read));
    const parts = isInvited(user) ? [] : (['account'] as const); // invitations
    return { user, details: deletionDetails(user), parts, byAdmin: by !== id };
  });
}

/**
 * Deletes a user and all ways in, and frees the address.
 * @throws {Overtaken} when others have changed the user since the user was read
 * @throws {DomainError} STORAGE_FAULT, and the errors of the conditions
 */
export async function remove(user: StoredUser, ...changes: readonly Change[]): Promise<StoredUser> {
  const { steps } = merged(emailReleased(user), waysInReleased(user), ...changes);
  await transact([
    [{ Delete: { TableName: config.usersTable, Key: userKey(user.id), ...unchanged(user) } }],
    ...steps,
  ]);
  return user;
}

/**
 * Deletes a caller who is not the last admin: when two admins delete themselves, one of them fails.
 * @throws {DomainError} USER_NOT_FOUND, SECOND_FACTOR_REQUIRED, LAST_ADMIN, STORAGE_FAULT, and what the confirmation
 *   throws
 */
export async function deleteOwnAccount(given: OwnConfirmation): Promise<void> {
  const { caller, source } = given;
  const { id } = caller;
  requireFactorOfPasskeyHolder(caller, caller); // second factor
  const deletion = { source, action: 'DELETE', by: id, on: id } as const;
  await recordingAndNotifying(deletion, async () => {
    const user = await rewriteConfirmed(given, (read) => {
      requireFactorOfPasskeyHolder(read, caller); // second factor
      return keepingAnAdmin(read, 'LAST_ADMIN', (otherAdminRequired) =>
        remove(read, otherAdminRequired),
      );
    });
    return { user, details: deletionDetails(user), parts: ['account'] };
  });
}
