/** Password resets, for users who forgot their password (functions/README.md, Password reset). */

import { audited } from '../audit/record.ts';
import { failuresOf } from '../auth/counters.ts';
import { type Step, untilWritten } from '../dynamodb/client.ts';
import { notifyOfChange } from '../mail/hand-over.ts';
import { config } from '../settings.ts';
import type { Source } from '../source.ts';
import { unlinking, withoutIdentities } from '../users/identities.ts';
import { hasFactor, type StoredUser, verifiedAs } from '../users/items.ts';
import { hashPassword } from '../users/password.ts';
import { endedSessions } from '../users/sessions.ts';
import { writeUser } from '../users/write.ts';
import { readLink, useLink } from './link.ts';

/** The deletion of the failed logins of a user, unless the mailbox would give further guesses at a code. */
const forgetFailures = async (user: StoredUser): Promise<readonly Step[]> => {
  const counter = hasFactor(user) ? undefined : await failuresOf(user.email);
  return counter ? [[{ Delete: { TableName: config.usersTable, Key: { pk: counter.pk } } }]] : [];
};

/**
 * Sets a password by a token, which is valid once, ends all sessions and unlinks all identities. Whoever
 * has the mail has the address, which is then verified.
 * @throws {DomainError} RESET_TOKEN_INVALID, HASHING_FAULT, STORAGE_FAULT
 */
export const resetPassword = async (
  { token, password }: { token: string; password: string },
  source: Source,
): Promise<void> => {
  const change = { ...source, action: 'UPDATE' } as const;
  const user = await audited(change, async (entry) => {
    let password_hash: string | undefined;
    return untilWritten(async () => {
      const link = await readLink('reset', token);
      const { user } = link;
      const unlinked = withoutIdentities(user);
      const details = { fields: ['password', ...Object.keys(unlinked)], by: 'reset' };
      Object.assign(entry, { user_id: user.id, resource_id: user.id, details });
      password_hash ??= await hashPassword(password);
      const ended = { ...unlinked, ...endedSessions(user) };
      const fields = { password_hash, ...verifiedAs(true), ...ended };
      const steps = [useLink(link), ...(await forgetFailures(user)), ...unlinking(user)];
      return (await writeUser(user, fields, { steps })) && user;
    });
  });
  const { identities } = user;
  await notifyOfChange({ ...user, email_verified: true }, { password, identities }, source);
};
