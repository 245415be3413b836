/** What the function that mails does with a message. */
import { resetRequested } from '../audit/actions.ts';
import { record } from '../audit/record.ts';
import { config } from '../config.ts';
import { faultName } from '../errors.ts';
import { describeFault, logError } from '../log.ts';
import type { MailMessage, NoticeMessage, ResetMessage } from '../mail/message.ts';
import { isFinal, isMailable, send } from '../mail/send.ts';
import { type Mail, noticeMail, resetMail } from '../mail/texts.ts';
import { mailNotSent } from '../mail/unsent.ts';
import { makeMailedToken, markMailed, releaseMail } from '../users/reset-mails.ts';
import { findUserByEmail } from '../users/store.ts';
import { exceedsNoticeLimit } from './limits.ts';

/** Whether an address can be mailed to; to try again would not help. */
const canMail = (address: string, { request_id }: MailMessage): boolean => {
  if (isMailable(address)) return true;
  logError(mailNotSent, { requestId: request_id, fault: 'AddressNotMailable' });
  return false;
};

/** Sends a mail. @returns false when it is refused for good: to try again would not help */
const deliver = async (
  address: string,
  mail: Mail,
  { request_id }: MailMessage,
): Promise<boolean> => {
  try {
    await send(address, mail);
    return true;
  } catch (error) {
    if (!isFinal(error)) throw error;
    logError(mailNotSent, { requestId: request_id, fault: faultName(error) });
    return false;
  }
};

const mailReset = async (message: ResetMessage): Promise<void> => {
  const { request_id, ip_address, user_agent } = message;
  const { user } = await findUserByEmail(message.email);
  if (!user || !canMail(user.email, message)) return;
  const token = await makeMailedToken(user, request_id);
  if (token === undefined) return;
  const link = { email: user.email, resetUrl: config.resetUrl, token };
  const isSent = await deliver(user.email, resetMail(message, link), message).catch(
    async (error: unknown) => {
      // If this fails too, it is taken up again when the claim has ended.
      await releaseMail(user, request_id).catch(() => undefined);
      throw error;
    },
  );
  // From here on nothing has the message come again: that would be a second mail.
  await markMailed(user, request_id).catch((error: unknown) =>
    logError('mail-not-marked', { requestId: request_id, ...describeFault(error) }),
  );
  if (!isSent) return;
  await record({
    ...{ ip_address, user_agent, request_id, action: 'UPDATE', resource_id: user.id },
    ...{ result: 'SUCCESS', details: resetRequested },
  });
};

const mailNotice = async (message: NoticeMessage): Promise<void> => {
  const { email } = message;
  if (!canMail(email, message) || (await exceedsNoticeLimit(message))) return;
  await deliver(email, noticeMail(message, { resetUrl: config.resetUrl }), message);
};

/**
 * Mails what a message asks for. A message that comes again is not mailed again once its link was.
 * @throws {Error} when it must be tried again: DomainError STORAGE_FAULT, MailUnderWay, or SES's
 */
export const mail = (message: MailMessage): Promise<void> =>
  message.kind === 'reset' ? mailReset(message) : mailNotice(message);
