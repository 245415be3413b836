/** How a mailed link verifies an address (functions/README.md, Verified addresses). */

import { audited } from '../audit/record.ts';
import { type Confirmation, hasPassword, passwordCheck } from '../auth/confirmation.ts';
import { untilWritten } from '../dynamodb/client.ts';
import { missingField } from '../errors.ts';
import { notifyOfChange } from '../mail/hand-over.ts';
import type { Source } from '../source.ts';
import { endedSessions } from '../users/sessions.ts';
import { changeDetails } from '../users/user.ts';
import { takeEmail, writeUser } from '../users/write.ts';
import { readLink, useLink } from './link.ts';

/** The token of a link, and what its user confirms by. */
interface VerificationRequest extends Pick<Confirmation, 'idToken' | 'nonce'> {
  readonly token: string;
  readonly password?: string | undefined;
}

/**
 * One attempt at verifying an address. If the user has another one, this one replaces it, and all sessions
 * end but the one that asked for it.
 * @param check that the user confirms it
 * @param entry is completed with what is known of the change
 * @returns undefined when others changed the user meanwhile, and false for a repetition
 */
const tryToVerify = async (
  { token, password }: VerificationRequest,
  check: ReturnType<typeof passwordCheck>,
  entry: object,
) => {
  const link = await readLink('address', token);
  const { user, email, session, isUsed } = link;
  const isMoved = email !== user.email;
  const applied = isMoved ? { email } : {};
  const { fields, ...values } = changeDetails(user, applied);
  const details = { fields: [...fields, 'email_verified'], by: 'verification', ...values };
  Object.assign(entry, { user_id: user.id, resource_id: user.id, details });
  if (password === undefined && hasPassword(user)) {
    throw missingField('TOKEN_AND_PASSWORD_REQUIRED', 'password');
  }
  await check(user);
  if (isUsed) return false;
  const ended = isMoved ? endedSessions(user, session) : {};
  const change = { email, email_verified: true, ...ended };
  const isWritten = await writeUser(user, change, {
    steps: [useLink(link), ...takeEmail(user, email)],
  });
  return isWritten && { user, applied };
};

/**
 * Marks an address as verified by a token, which is valid once, and the password of the account:
 * whoever opens the link of an account that somebody else made with the address verifies nothing. A
 * repetition of what was done needs the password too, and changes, records and mails nothing.
 * @throws {DomainError} VERIFICATION_TOKEN_INVALID, CURRENT_PASSWORD_WRONG, TOO_MANY_ATTEMPTS,
 *   EMAIL_REGISTERED, STORAGE_FAULT
 */
export const verifyAddress = async (
  request: VerificationRequest,
  source: Source,
): Promise<void> => {
  const { password: currentPassword, idToken, nonce } = request;
  const confirmation = { currentPassword, idToken, nonce, sourceIp: source.ip_address };
  const check = passwordCheck(undefined, confirmation);
  const change = { ...source, action: 'UPDATE', details: { by: 'verification' } } as const;
  const verified = await audited(change, (entry) =>
    untilWritten(() => tryToVerify(request, check, entry)),
  );
  if (verified) await notifyOfChange(verified.user, verified.applied, source);
};
