/** How a mailed link verifies an address (functions/README.md, Verified addresses). */
import { recordingFaults } from '../audit/record.ts';
import { untilWritten } from '../dynamodb/client.ts';
import { missingField } from '../ground/errors.ts';
import type { Source } from '../ground/source.ts';
import { changedParts } from '../options/mails/hand-over.ts';
import { sessionsEnded } from '../options/sessions/sessions.ts';
import { verifiedAddress } from '../options/verified-addresses/address.ts';
import {
  type AddressLink,
  addressLinkUsed,
  addressMoved,
  readAddressLink,
} from '../options/verified-addresses/address-link.ts';
import { changeDetails, isOtherAddress } from '../users/user.ts';
import { makerForgotten, writeUser } from '../users/write.ts';
import { type Confirmation, confirmsByPassword, requireConfirmed } from './confirmation.ts';
import { recordingAndNotifying } from './recording.ts';

interface VerificationRequest extends Pick<Confirmation, 'idToken' | 'nonce'> {
  readonly token: string;
  readonly password?: string | undefined;
}

/**
 * Marks an address as verified, by a token that is valid once and the password of the account: if somebody else has
 * made an account with one's address, opening its link verifies nothing. If the user has another address, the verified
 * address replaces it, and all sessions end except the session that requested the new address. A repeated request
 * needs the password too, and changes, records and mails nothing.
 * @throws {DomainError} VERIFICATION_TOKEN_INVALID, TOKEN_AND_PASSWORD_REQUIRED, EMAIL_REGISTERED, STORAGE_FAULT, and
 *   what the confirmation throws
 */
export async function verifyAddress(request: VerificationRequest, source: Source): Promise<void> {
  const { token, password: currentPassword, idToken, nonce } = request;
  const given: Confirmation = { currentPassword, idToken, nonce, source };
  const read = () => readAddressLink(token);
  const deed = { source, action: 'UPDATE', details: { by: 'verification' } } as const;
  const found = await recordingFaults(deed, read);
  const { user, email } = found;
  const applied = isOtherAddress(user, email) ? { email } : {};
  const { fields, ...values } = changeDetails(user, applied);
  const details = {
    fields: [...fields, ...Object.keys(verifiedAddress)],
    by: 'verification',
    ...values,
  };
  if (currentPassword === undefined && confirmsByPassword(user)) {
    throw missingField('TOKEN_AND_PASSWORD_REQUIRED', 'password');
  }
  const verify = async (link: AddressLink, confirmedOnce: Confirmation) => {
    await requireConfirmed(link.user, confirmedOnce);
    if (link.isUsed) return { user, isChanged: false, parts: [] };
    const isMoved = isOtherAddress(link.user, link.email);
    await writeUser(
      link.user,
      addressLinkUsed(link), // links
      { fields: verifiedAddress },
      addressMoved(link.user, link.email),
      isMoved ? sessionsEnded(link.user, link.session) : {}, // sessions
      isMoved ? makerForgotten : {}, // users made by a caller
    );
    return { user, isChanged: true, parts: changedParts(user, applied) };
  };
  await recordingAndNotifying({ ...deed, by: user.id, on: user.id, details }, async () => {
    const confirmedOnce = await requireConfirmed(user, given);
    return untilWritten(read, (link) => verify(link, confirmedOnce), found);
  });
}
