/**
 * The limits of mails for the callers who are told of them (functions/README.md, Limits of mails): admins, of what
 * they have mailed to others, and users, of the link that verifies their own address. To anybody else the minute of
 * an address would tell that somebody had something mailed to it.
 */
import { DomainError } from '../../ground/errors.ts';
import { loggingFaults, logMailWithheld } from '../../ground/log.ts';
import type { Source } from '../../ground/source.ts';
import { type MailMessage, requireMail } from './hand-over.ts';
import { type Claim, waitForAddress } from './limits.ts';
import { countForSource, type MailCause, notCounted } from './sources.ts';

/**
 * Requests a mail within the limits.
 * @throws {DomainError} MAILS_LIMITED, MAIL_FAULT
 */
export async function requireToldMail(message: MailMessage, cause: MailCause): Promise<void> {
  await requireMailsLeft(message, cause);
  await requireMail(message, 'counted');
}

/**
 * Requires that a mail is within the limits, and counts it for its source; nothing else is written before. A mail
 * that is asked for at the same time may still use up what the address has left: this one is withheld then.
 * @throws {DomainError} MAILS_LIMITED
 */
export async function requireMailsLeft(
  mail: Pick<Claim, 'kind' | 'email'> & Source,
  cause: MailCause,
): Promise<void> {
  const ofAddress = (await loggingFaults(notCounted, () => waitForAddress(mail))) ?? 0;
  const retryAfter = ofAddress || (await countForSource(cause, mail));
  if (retryAfter === 0) return;
  logMailWithheld(mail);
  throw new DomainError('MAILS_LIMITED', { retryAfter });
}
