/**
 * Mails links and notices. The function `mailOnce` sends every mail, and enforces the limits of the address
 * (functions/README.md, Limits of mails).
 */
import { resetRequested } from '../../audit/entry.ts';
import { record } from '../../audit/record.ts';
import { untilWritten } from '../../dynamodb/client.ts';
import { faultName } from '../../ground/errors.ts';
import { describeFault, logError, mailNotSent } from '../../ground/log.ts';
import { mailedAs } from '../../users/address.ts';
import type { StoredUser } from '../../users/item.ts';
import { findStoredUser, findUserByEmail } from '../../users/store.ts';
import { isSuspended } from '../../users/user.ts';
import { isInvited, makeInvitationToken, whyNotInvitable } from '../invitations/invitation.ts';
import { makeLinkToken, resetLink } from '../links/mailed-link.ts';
import { linkTo, urlOf } from '../links/page.ts';
import { awaitsLink } from '../verified-addresses/address.ts';
import type { MailMessage, NoticeMessage, ResetMessage, VerificationMessage } from './hand-over.ts';
import { claimMail, markMailed, releaseMail } from './limits.ts';
import { isFinal, type Mail, noticeMail, resetMail, send, verificationMail } from './send.ts';

/**
 * Sends the mail that a message requests. A message that is delivered again after its mail was sent is ignored.
 * @throws {Error} when the message must be tried again: DomainError STORAGE_FAULT, MailUnderWay, or an error of SES
 */
export function mail(message: MailMessage): Promise<void> {
  if (message.kind === 'notice') return mailNotice(message);
  return message.kind === 'reset' ? mailReset(message) : mailVerification(message);
}

async function mailNotice(message: NoticeMessage): Promise<void> {
  await mailOnce(message, message.email, async () =>
    noticeMail(message, { resetUrl: urlOf('reset') }),
  );
}

/**
 * Sends a mail if the limits of the address allow it, and only once even if the message is delivered several times.
 * @param write writes the mail; if the mail has a link, with a new token
 */
async function mailOnce(
  message: MailMessage,
  email: string,
  write: () => Promise<Mail>,
): Promise<boolean> {
  const { request_id } = message;
  const isVerified = message.kind === 'notice' && message.isVerified === true;
  const claim = { kind: message.kind, email, request_id, isVerified };
  const address = mailedAs(email);
  if (address === undefined) {
    logError(mailNotSent, { requestId: request_id, fault: 'AddressNotMailable' });
    return false;
  }
  if (!(await claimMail(claim))) return false;
  const attempt = async () => deliver(address, await write(), message);
  const isSent = await attempt().catch(async (error: unknown) => {
    // If the release fails too, the claim expires.
    await releaseMail(claim).catch(() => undefined);
    throw error;
  });
  // From here on nothing may throw: the message would be tried again, and mailed twice.
  await markMailed(claim).catch((error: unknown) =>
    logError('mail-not-marked', { requestId: request_id, ...describeFault(error) }),
  );
  return isSent;
}

/** @returns false when the mail is finally refused, and must not be tried again */
async function deliver(address: string, mail: Mail, { request_id }: MailMessage): Promise<boolean> {
  try {
    await send(address, mail);
    return true;
  } catch (error) {
    if (!isFinal(error)) throw error;
    logError(mailNotSent, { requestId: request_id, fault: faultName(error) });
    return false;
  }
}

/**
 * Mails a link that sets a password. If others change an invited user meanwhile, everything is read again, because the
 * user may then need another mail, or none.
 */
function mailReset(message: ResetMessage): Promise<void> {
  return untilWritten(
    () => findUserByEmail(message.email),
    (user) => mailResetTo(user, message),
  );
}

/** @throws {Overtaken} when others have changed an invited user since the user was read */
async function mailResetTo(user: StoredUser | undefined, message: ResetMessage): Promise<void> {
  const text = user && textFor(user, message);
  if (!text) return;
  const { id, email } = user;
  const makeToken = () =>
    text === 'invitation' ? makeInvitationToken(user) : makeLinkToken(resetLink(user));
  const page = text === 'invitation' ? 'invitation' : 'reset';
  const write = async () => {
    const link = linkTo(page, {
      token: await makeToken(),
      email,
      isAuditor: user.auditor === true,
    });
    return resetMail(message, text, { email, link });
  };
  if (!(await mailOnce(message, email, write)) || message.invites) return;
  const { asked_by: by } = message;
  await record({ source: message, action: 'UPDATE', by, on: id, details: resetRequested });
}

/**
 * The name of the text for a user who will set a password; undefined: nothing is mailed. An invited user who requests a
 * reset, or whose address somebody tries to register, gets the invitation again.
 */
function textFor(user: StoredUser, { invites, isTaken, byAdmin, asked_by }: ResetMessage) {
  if (isSuspended(user)) return undefined;
  if (invites) return invites === user.id && !whyNotInvitable(user) ? 'invitation' : undefined;
  if (isInvited(user)) return 'invitation';
  if (isTaken) return 'taken';
  return byAdmin && asked_by !== user.id ? 'resetByAdmin' : 'reset';
}

/** Only the use of the link is recorded, because it has no effect without the password. */
async function mailVerification(message: VerificationMessage): Promise<void> {
  const { user_id, email, pending_id: pendingId, session_id: sessionId } = message;
  const user = await findStoredUser(user_id);
  if (!user || isSuspended(user) || !isNeeded(user, message)) return;
  const holder = await findUserByEmail(email);
  // The holder of the address learns that somebody requested it. Whoever requested it does not learn that it is taken.
  if (holder && holder.id !== user_id) {
    return mailReset({ ...message, kind: 'reset', isTaken: true, asked_by: user_id });
  }
  await mailOnce(message, email, async () => {
    const token = await makeLinkToken({ kind: 'address', user, email, sessionId, pendingId });
    return verificationMail(message, { email, link: linkTo('verify', { token, email }) });
  });
}

function isNeeded(user: StoredUser, { email, pending_id }: VerificationMessage): boolean {
  return pending_id === undefined
    ? email === user.email && !user.email_verified && !awaitsLink(user)
    : pending_id === user.pending_id;
}
