/** Password resets, for users who forgot their password (functions/README.md, Password reset). */
import { record, recordingFaults } from '../audit/record.ts';
import { untilWritten } from '../dynamodb/client.ts';
import type { Source } from '../ground/source.ts';
import { type FoundLink, readResetLink, useResetLink } from '../options/links/link.ts';
import { changedParts, tryToNotify } from '../options/mails/hand-over.ts';
import { forgottenFailures } from '../options/protection/counters.ts';
import { verifiedAs } from '../options/verified-addresses/address.ts';
import type { StoredUser } from '../users/item.ts';
import { hashPassword } from '../users/password.ts';
import { merged, writeUser } from '../users/write.ts';
import { reclaimed, withoutOtherWays } from './ways-in.ts';

/**
 * Sets a password by a token, which is valid once, ends all sessions and unlinks all identities. Whoever
 * has the mail has the address, which is then verified.
 * @throws {DomainError} RESET_TOKEN_INVALID, HASHING_FAULT, STORAGE_FAULT
 */
export async function resetPassword(
  { token, password }: { token: string; password: string },
  source: Source,
): Promise<void> {
  const read = () => readResetLink(token);
  const update = { ...source, action: 'UPDATE' } as const;
  const found = await recordingFaults(update, read());
  const password_hash = await hashPassword(password);
  const reset = async (link: FoundLink) => {
    const { user } = link;
    const change = merged(
      { fields: verifiedAs(true), steps: [useResetLink(link)] }, // verified addresses
      reclaimed(user, password_hash), // with the sessions and identities ended
      await forgottenFailures(user), // protection
    );
    return { before: user, after: await writeUser(user, change) };
  };
  const entryOf = (user: StoredUser) => {
    const fields = ['password', ...Object.keys(withoutOtherWays(user).fields)];
    const details = { fields, by: 'reset' };
    return { ...update, user_id: user.id, resource_id: user.id, details };
  };
  const resetting = untilWritten(read, reset, found);
  const { before, after } = await recordingFaults(entryOf(found.user), resetting);
  await record(entryOf(before));
  const changed = changedParts(after, { password, ...withoutOtherWays(before).fields });
  await tryToNotify(after, changed, source); // mails
}
