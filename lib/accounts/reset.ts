/** Passwords that users set by a mailed link (functions/README.md, Password reset, Invitations). */
import { recordingFaults } from '../audit/record.ts';
import { untilWritten } from '../dynamodb/client.ts';
import type { Source } from '../ground/source.ts';
import { isInvited } from '../options/invitations/invitation.ts';
import { type FoundLink, readResetLink, resetLinkUsed } from '../options/links/mailed-link.ts';
import { failuresForgotten } from '../options/protection/counters.ts';
import { verifiedAs } from '../options/verified-addresses/address.ts';
import { merged } from '../users/item.ts';
import { hashPassword } from '../users/password.ts';
import { writeUser } from '../users/write.ts';
import { recordedAndTold } from './recorded.ts';
import { accountReclaimed } from './ways-in.ts';

/**
 * Sets a password by a token, which is valid once, and ends the other ways in ({@link accountReclaimed}). Whoever has
 * the mail has the address, which is then verified. By an invitation it is the first password.
 * @throws {DomainError} RESET_TOKEN_INVALID, HASHING_FAULT, STORAGE_FAULT
 */
export async function resetPassword(
  { token, password }: { token: string; password: string },
  source: Source,
): Promise<void> {
  const read = () => readResetLink(token);
  const update = { source, action: 'UPDATE' } as const;
  const found = await recordingFaults(update, read);
  const { id } = found.user;
  const by = isInvited(found.user) ? 'invitation' : 'reset'; // invitations
  const password_hash = await hashPassword(password);
  const reset = async (link: FoundLink) => {
    const { user } = link;
    const reclaiming = accountReclaimed(user, password_hash, 'mailbox'); // sessions, identities, passkeys
    const change = merged(
      resetLinkUsed(link), // links
      { fields: verifiedAs(true) }, // verified addresses
      reclaiming,
      await failuresForgotten(user), // protection
    );
    return { user: await writeUser(user, change), ways: reclaiming.ways };
  };
  const { ways: known } = accountReclaimed(found.user, password_hash, 'mailbox');
  const deed = { ...update, by: id, on: id, details: { fields: known, by } };
  await recordedAndTold(deed, async () => {
    // The reset has verified the address, and the limits of strangers' mails do not apply to its notice.
    const { user, ways } = await untilWritten(read, reset, found);
    const changed = by === 'invitation' ? [] : ways; // invitations
    return { user, details: { fields: ways, by }, changed };
  });
}
