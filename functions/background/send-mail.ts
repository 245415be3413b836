import { faultName } from '../../lib/ground/errors.ts';
import { describeFault, logError, mailNotSent } from '../../lib/ground/log.ts';
import { requirePassedOn } from '../../lib/ground/settings.ts';
import { mail } from '../../lib/options/mails/deliver.ts';
import type { MailMessage } from '../../lib/options/mails/hand-over.ts';

/** Sends a mail. Other functions invoke it, but do not wait for it. If it throws, Lambda invokes it again. */
export async function handler(message: MailMessage): Promise<void> {
  try {
    requirePassedOn();
    await mail(message);
  } catch (error) {
    logError(mailNotSent, { requestId: message.request_id, ...describeFault(error) });
    throw new Error(`No mail was sent: ${faultName(error)}`);
  }
}
