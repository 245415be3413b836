/**
 * Reports a reached limit of mails to callers who may know of it (functions/README.md, Limits of mails): admins, who
 * request mails to others, and users, who request the link that verifies their own address. From a reached limit,
 * anybody else would learn that mails were sent to the address, and so that it has an account.
 */
import { DomainError } from '../../ground/errors.ts';
import { loggingFaults, logMailWithheld } from '../../ground/log.ts';
import type { Source } from '../../ground/source.ts';
import { type MailMessage, requestMail } from './hand-over.ts';
import { type Claim, waitForAddress } from './limits.ts';
import { countForSource, type MailCause, notCounted } from './sources.ts';

/** Requests a mail, unless a limit is reached. */
export async function requestMailOrTell(message: MailMessage, cause: MailCause): Promise<void> {
  await countMail(message, cause);
  await requestMail(message, 'counted');
}

/**
 * Counts a mail for its source, unless a limit is reached. It must be called before anything else is written. Another
 * mail that is requested at the same time may still use up the limit of the address; then the counted mail is withheld.
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
