/** Passwords that users set by a mailed link (functions/README.md, Password reset, Invitations). */
import { recordingFaults } from '../audit/record.ts';
import { untilWritten } from '../dynamodb/client.ts';
import type { Source } from '../ground/source.ts';
import { strangersAttributesRemoved } from '../options/attributes/attributes.ts';
import { isInvited } from '../options/invitations/invitation.ts';
import { type FoundLink, readResetLink, resetLinkUsed } from '../options/links/mailed-link.ts';
import { failuresForgotten } from '../options/protection/counters.ts';
import { verifiedAs } from '../options/verified-addresses/address.ts';
import type { Change, StoredUser } from '../users/item.ts';
import { hashPassword } from '../users/password.ts';
import { writeUser } from '../users/write.ts';
import { recordingAndNotifying } from './recording.ts';
import { accountReclaimed, passwordSet } from './ways-in.ts';

/**
 * Sets a password by a token, which is valid once, and ends the other ways in ({@link accountReclaimed}). Whoever
 * received the mail has the address, which therefore becomes verified. For an invited user it is the first password.
 * @throws {DomainError} RESET_TOKEN_INVALID, HASHING_FAULT, STORAGE_FAULT
 */
export async function resetPassword(
  { token, password }: { token: string; password: string },
  source: Source,
): Promise<void> {
  const read = () => readResetLink(token);
  const deed = { source, action: 'UPDATE' } as const;
  const found = await recordingFaults(deed, read);
  const { id } = found.user;
  const via = isInvited(found.user) ? 'invitation' : 'reset'; // invitations
  const password_hash = await hashPassword(password);
  const reset = async (link: FoundLink) => {
    const reclaimed = accountReclaimed(link.user, 'mailbox');
    const user = await writeUser(
      link.user,
      resetLinkUsed(link),
      { fields: verifiedAs(true) }, // verified addresses
      passwordSet(password_hash),
      reclaimed, // users made by a caller, identities, passkeys, sessions
      await failuresForgotten(link.user), // protection
      attributesRemoved(link.user), // attributes
    );
    const parts = via === 'invitation' ? [] : (['password', ...reclaimed.ways] as const); // invitations
    // The reset has verified the address, so the limits of mails that strangers cause do not apply to the notice.
    return { user, details: detailsOf(link.user, via), parts };
  };
  const known = { ...deed, by: id, on: id, details: detailsOf(found.user, via) };
  await recordingAndNotifying(known, () => untilWritten(read, reset, found));
}

/** The attributes of an invited user are kept: whoever sent the invitation has set them, not a stranger. */
function attributesRemoved(user: StoredUser): Change {
  return isInvited(user) ? {} : strangersAttributesRemoved(user);
}

/** The details of the entry: of the user as written or, where that fails, as read first. */
function detailsOf(user: StoredUser, via: 'invitation' | 'reset'): object {
  const { ways } = accountReclaimed(user, 'mailbox'); // identities, passkeys
  const others = attributesRemoved(user).fields ? ['attributes'] : []; // attributes
  return { fields: ['password', ...ways, ...others], by: via };
}
