/**
 * The limits of mails for the callers who are told of them (functions/README.md, Limits of mails): admins, who
 * have mails sent to others, and users, who ask for the link that verifies their own address. Anybody else would
 * learn from the limit of an address that it was mailed, and so has an account.
 */
import { DomainError } from '../../ground/errors.ts';
import { loggingFaults, logMailWithheld } from '../../ground/log.ts';
import type { Source } from '../../ground/source.ts';
import { type MailMessage, requestMail } from './hand-over.ts';
import { type Claim, waitForAddress } from './limits.ts';
import { countForSource, type MailCause, notCounted } from './sources.ts';

/**
 * Requests a mail, unless a limit is reached.
 * @throws {DomainError} MAILS_LIMITED, MAIL_FAULT
 */
export async function requestMailWithinLimits(
  message: MailMessage,
  cause: MailCause,
): Promise<void> {
  await countMail(message, cause);
  await requestMail(message, 'counted');
}

/**
 * Counts a mail for its source, unless a limit is reached; nothing else is written before. A mail that is asked for
 * at the same time may still use up what the address has left: this one is withheld then.
 * @throws {DomainError} MAILS_LIMITED
 */
export async function countMail(
  mail: Pick<Claim, 'kind' | 'email'> & Source,
  cause: MailCause,
): Promise<void> {
  const ofAddress = (await loggingFaults(notCounted, () => waitForAddress(mail))) ?? 0;
  const retryAfter = ofAddress || (await countForSource(cause, mail));
  if (retryAfter === 0) return;
  logMailWithheld(mail);
  throw new DomainError('MAILS_LIMITED', { retryAfter });
}
