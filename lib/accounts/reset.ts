/** Password resets, for users who forgot their password (functions/README.md, Password reset). */
import { audited } from '../audit/record.ts';
import { untilWritten } from '../dynamodb/client.ts';
import type { Source } from '../ground/source.ts';
import { readResetLink, useResetLink } from '../options/links/link.ts';
import { changedParts, tryToNotify } from '../options/mails/hand-over.ts';
import { forgottenFailures } from '../options/protection/counters.ts';
import { verifiedAs } from '../options/verified-addresses/address.ts';
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
  const change = { ...source, action: 'UPDATE' } as const;
  const { user, otherWays } = await audited(change, async (entry) => {
    let password_hash: string | undefined;
    return untilWritten(async () => {
      const link = await readResetLink(token);
      const { user } = link;
      const otherWays = withoutOtherWays(user);
      const details = { fields: ['password', ...Object.keys(otherWays.fields)], by: 'reset' };
      Object.assign(entry, { user_id: user.id, resource_id: user.id, details });
      password_hash ??= await hashPassword(password);
      const reset = merged(
        { fields: verifiedAs(true), steps: [useResetLink(link)] }, // verified addresses
        reclaimed(user, password_hash), // with the sessions and identities ended
        await forgottenFailures(user), // protection
      );
      return { user: await writeUser(user, reset), otherWays };
    });
  });
  const changed = changedParts(user, { password, ...otherWays.fields });
  await tryToNotify(user, changed, source); // mails
}
