/** How a mailed link verifies an address (functions/README.md, Verified addresses). */
import { audited } from '../audit/record.ts';
import { untilWritten } from '../dynamodb/client.ts';
import { missingField } from '../ground/errors.ts';
import type { Source } from '../ground/source.ts';
import { changedParts, tryToNotify } from '../options/mails/hand-over.ts';
import { endedSessions } from '../options/sessions/sessions.ts';
import { verified } from '../options/verified-addresses/address.ts';
import { readAddressLink, useAddressLink } from '../options/verified-addresses/link.ts';
import { changeDetails } from '../users/user.ts';
import { merged, writeUser } from '../users/write.ts';
import { type Confirmation, confirmPassword, hasPassword } from './confirmation.ts';
import { movedTo } from './new-address.ts';

/** The token of a link, and what its user confirms by. */
interface VerificationRequest extends Pick<Confirmation, 'idToken' | 'nonce'> {
  readonly token: string;
  readonly password?: string | undefined;
}

/**
 * Marks an address as verified by a token, which is valid once, and the password of the account:
 * whoever opens the link of an account that somebody else made with the address verifies nothing. If the
 * user has another address, this one replaces it, and all sessions end but the one that asked for it. A
 * repetition of what was done needs the password too, and changes, records and mails nothing.
 * @throws {DomainError} VERIFICATION_TOKEN_INVALID, TOKEN_AND_PASSWORD_REQUIRED, EMAIL_REGISTERED,
 *   STORAGE_FAULT, and what the confirmation throws
 */
export async function verifyAddress(request: VerificationRequest, source: Source): Promise<void> {
  const { password: currentPassword, idToken, nonce } = request;
  const given: Confirmation = { currentPassword, idToken, nonce, sourceIp: source.ip_address };
  const change = { ...source, action: 'UPDATE', details: { by: 'verification' } } as const;
  const { user, applied, isUsed } = await audited(change, async (entry) => {
    const done = await untilWritten(() => tryToVerify(request.token, given, entry));
    entry.isUnchanged = done.isUsed;
    return done;
  });
  if (!isUsed) await tryToNotify(user, changedParts(user, applied), source);
}

/** @param entry is completed with what is known of the change */
async function tryToVerify(token: string, given: Confirmation, entry: object) {
  const link = await readAddressLink(token);
  const { user, email, session, isUsed } = link;
  const isMoved = email !== user.email;
  const applied = isMoved ? { email } : {};
  const { fields, ...values } = changeDetails(user, applied);
  const details = { fields: [...fields, ...Object.keys(verified)], by: 'verification', ...values };
  Object.assign(entry, { user_id: user.id, resource_id: user.id, details });
  if (given.currentPassword === undefined && hasPassword(user)) {
    throw missingField('TOKEN_AND_PASSWORD_REQUIRED', 'password');
  }
  await confirmPassword(user, given);
  if (!isUsed) {
    const verification = { fields: verified, steps: [useAddressLink(link)] };
    const ended = isMoved ? { ...endedSessions(user, session), made_by: undefined } : {};
    await writeUser(user, merged(verification, movedTo(user, email), { fields: ended }));
  }
  return { user, applied, isUsed };
}
