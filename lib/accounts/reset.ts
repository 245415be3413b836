/** Passwords that users set by a mailed link (functions/README.md, Password reset, Invitations). */
import { record, recordingFaults } from '../audit/record.ts';
import { untilWritten } from '../dynamodb/client.ts';
import type { Source } from '../ground/source.ts';
import { isInvited } from '../options/invitations/invitation.ts';
import { type FoundLink, readResetLink, useResetLink } from '../options/links/link.ts';
import { tryToNotify } from '../options/mails/hand-over.ts';
import { forgottenFailures } from '../options/protection/counters.ts';
import { verifiedAs } from '../options/verified-addresses/address.ts';
import type { StoredUser } from '../users/item.ts';
import { hashPassword } from '../users/password.ts';
import { merged, writeUser } from '../users/write.ts';
import { reclaimed } from './ways-in.ts';

/**
 * Sets a password by a token, which is valid once, and ends the other ways in ({@link reclaimed}). Whoever has
 * the mail has the address, which is then verified. By an invitation it is the first password.
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
    const reclaiming = reclaimed(user, password_hash, 'mailbox'); // sessions, identities, passkeys
    const change = merged(
      { fields: {}, steps: [useResetLink(link)] }, // links
      { fields: verifiedAs(true) }, // verified addresses
      reclaiming,
      await forgottenFailures(user), // protection
    );
    return { after: await writeUser(user, change), ways: reclaiming.ways };
  };
  const entryOf = ({ id }: StoredUser, by: string, fields: readonly string[]) => {
    return { ...update, user_id: id, resource_id: id, details: { fields, by } };
  };
  const by = isInvited(found.user) ? 'invitation' : 'reset'; // invitations
  const ifFailed = entryOf(found.user, by, reclaimed(found.user, password_hash, 'mailbox').ways);
  const { after, ways } = await recordingFaults(ifFailed, untilWritten(read, reset, found));
  await record(entryOf(after, by, ways));
  if (by === 'invitation') return; // invitations
  // The reset has verified the address, and the limits of strangers' mails do not apply to this one.
  await tryToNotify(after, ways, source); // mails
}
