/**
 * Mails notices, and links: for each request once, and only so many for an account
 * (functions/README.md, Password reset).
 */
import { randomUUID } from 'node:crypto';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { resetRequested } from '../audit/entry.ts';
import { record } from '../audit/record.ts';
import { retry, sendIf } from '../dynamodb/client.ts';
import { faultName, namedError } from '../errors.ts';
import { exceedsNoticeLimit } from '../limits/sources.ts';
import { describeFault, logError, mailNotSent } from '../log.ts';
import type {
  LinkMessage,
  MailMessage,
  NoticeMessage,
  ResetMessage,
  VerificationMessage,
} from '../mail/hand-over.ts';
import {
  isFinal,
  isMailable,
  type Mail,
  noticeMail,
  resetMail,
  send,
  verificationMail,
} from '../mail/send.ts';
import { config } from '../settings.ts';
import { hour, seconds } from '../time.ts';
import { getItem, linkKey } from '../users/items.ts';
import { findStoredUser, findUserByEmail } from '../users/store.ts';
import { type Link, makeToken, newToken, resetLink, type StoredLink } from './store.ts';

const minute = 60;

/** Seconds for which a delivery claims a request: longer than the function that mails may run. */
const lease = 50;

/** Mails to an account in an hour. */
const mailsPerHour = 5;

/**
 * Whether a delivery claims the request now. A time too far ahead is from before the clock was set
 * back.
 */
const isClaimed = ({ claimed_until = 0 }: StoredLink, now: number): boolean =>
  claimed_until > now && claimed_until <= now + lease + minute;

/**
 * Whether the user is about to get another address, so that a link to the present one would make the
 * link to that one void.
 */
const isForAnother = (item: StoredLink, { user, email }: Link, now: number): boolean =>
  email === user.email &&
  item.token_hash !== undefined &&
  item.email !== email &&
  (item.token_expires_at ?? 0) > now;

/**
 * The mails of the last hour including that for a request; undefined if the request must not be
 * mailed.
 * @throws {Error} MailUnderWay while another delivery mails it
 */
const mailsWith = (
  item: StoredLink,
  requestId: string,
  { link, now }: { link: Link; now: number },
) => {
  const { request_id, sent, mailed = [] } = item;
  if (request_id === requestId) {
    if (!sent && isClaimed(item, now)) throw namedError('MailUnderWay');
    // A request whose mail was not sent is tried again, which counts no further mail.
    return sent ? undefined : mailed;
  }
  // The request comes again after a newer one, whose link would become void.
  if (mailed.some((one) => one.request_id === requestId)) return undefined;
  // Times ahead of now are from before the clock was set back.
  const recent = mailed.filter(({ at }) => at > now - hour && at <= now + minute);
  const isTooSoon = item.email === link.email && recent.some(({ at }) => at > now - minute);
  return isTooSoon || recent.length >= mailsPerHour || isForAnother(item, link, now)
    ? undefined
    : [...recent, { request_id: requestId, at: now }];
};

/** Writes a token for a request, unless another delivery has changed the item since it was read. */
const claimMail = async (
  link: Link,
  requestId: string,
  { claim, mails, now }: { claim: string | undefined; mails: StoredLink['mailed']; now: number },
): Promise<string | undefined> => {
  const token = makeToken(link.user.id);
  const { UpdateExpression, ExpressionAttributeValues } = newToken(link, token, now);
  const command = new UpdateCommand({
    TableName: config.usersTable,
    Key: linkKey(link.kind, link.user.id),
    UpdateExpression: `${UpdateExpression}, request_id = :request, mailed = :mails, claim = :claim, claimed_until = :lease REMOVE sent${link.sessionId ? '' : ', session_id'}`,
    ConditionExpression: claim === undefined ? 'attribute_not_exists(claim)' : 'claim = :seen',
    ExpressionAttributeValues: {
      ...ExpressionAttributeValues,
      ':request': requestId,
      ':mails': mails,
      ':claim': randomUUID(),
      ':lease': now + lease,
      ...(claim === undefined ? {} : { ':seen': claim }),
    },
  });
  return (await sendIf(command)) ? token : undefined;
};

/** Attempts at a claim; each fails if another delivery writes at the same time. */
const maxRounds = 3;

/**
 * Makes the token of a link to be mailed for a request, unless the request was mailed already, a
 * newer one came since, or the account has had a mail within a minute or five within an hour.
 * @returns undefined when there is nothing to mail
 * @throws {DomainError} STORAGE_FAULT
 * @throws {Error} MailUnderWay while another delivery of the request mails it: try again later
 */
export const makeMailedToken = async (
  link: Link,
  requestId: string,
  { now = new Date() }: { now?: Date } = {},
): Promise<string | undefined> => {
  const tryToClaim = async () => {
    const item: StoredLink = (await getItem(linkKey(link.kind, link.user.id))) ?? {};
    const mails = mailsWith(item, requestId, { link, now: seconds(now) });
    if (!mails) return 'nothing to mail';
    const seen = { claim: item.claim, mails, now: seconds(now) };
    const token = await claimMail(link, requestId, seen);
    return token === undefined ? undefined : { token };
  };
  const claimed = await retry(tryToClaim, { attempts: maxRounds });
  if (!claimed) throw namedError('MailUnderWay');
  return claimed === 'nothing to mail' ? undefined : claimed.token;
};

const updateMail = async (
  { kind, user }: Link,
  ExpressionAttributeValues: Readonly<Record<string, unknown>>,
  expressions: { readonly UpdateExpression: string; readonly ConditionExpression: string },
): Promise<void> => {
  const item = { TableName: config.usersTable, Key: linkKey(kind, user.id) };
  await sendIf(new UpdateCommand({ ...item, ...expressions, ExpressionAttributeValues }));
};

/** Records that a request is done. @throws {DomainError} STORAGE_FAULT */
export const markMailed = (link: Link, requestId: string): Promise<void> =>
  updateMail(
    link,
    { ':true': true, ':request': requestId },
    { UpdateExpression: 'SET sent = :true', ConditionExpression: 'request_id = :request' },
  );

/**
 * Ends the claim of a request that could not be mailed, so that it can be tried again at once.
 * @throws {DomainError} STORAGE_FAULT
 */
export const releaseMail = (link: Link, requestId: string): Promise<void> =>
  updateMail(
    link,
    { ':request': requestId },
    { UpdateExpression: 'REMOVE claimed_until', ConditionExpression: 'request_id = :request' },
  );

/** Whether an address can be mailed to. If not, the message is not tried again. */
const canMail = (address: string, { request_id }: MailMessage): boolean => {
  if (isMailable(address)) return true;
  logError(mailNotSent, { requestId: request_id, fault: 'AddressNotMailable' });
  return false;
};

/** Sends a mail. @returns false when it is refused for good, and must not be tried again */
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

/** @param write writes the mail with a token */
const mailLink = async (
  message: LinkMessage,
  link: Link,
  write: (token: string) => Mail,
): Promise<void> => {
  const { request_id, ip_address, user_agent } = message;
  const { user, kind, email } = link;
  if (!canMail(email, message)) return;
  const token = await makeMailedToken(link, request_id);
  if (token === undefined) return;
  const isSent = await deliver(email, write(token), message).catch(async (error: unknown) => {
    // If this fails too, the claim ends by itself.
    await releaseMail(link, request_id).catch(() => undefined);
    throw error;
  });
  // From here on nothing may throw: the message would be tried again, and mailed twice.
  await markMailed(link, request_id).catch((error: unknown) =>
    logError('mail-not-marked', { requestId: request_id, ...describeFault(error) }),
  );
  // A link that verifies an address can do nothing without the password: only its use is recorded.
  if (!isSent || kind === 'verification') return;
  await record({
    ip_address,
    user_agent,
    request_id,
    action: 'UPDATE',
    resource_id: user.id,
    result: 'SUCCESS',
    details: resetRequested,
  });
};

const mailReset = async (message: ResetMessage): Promise<void> => {
  const { user } = await findUserByEmail(message.email);
  if (!user) return;
  await mailLink(message, resetLink(user), (token) =>
    resetMail(message, { email: user.email, resetUrl: config.resetUrl, token }),
  );
};

const mailVerification = async (message: VerificationMessage): Promise<void> => {
  const { user_id, email, session_id: sessionId, isNew = false } = message;
  const user = await findStoredUser(user_id);
  const isOfUser = user?.email === email;
  // The user has got another address since, or has verified this one.
  if (!user || (isNew ? isOfUser : !isOfUser || user.email_verified)) return;
  const { user: holder } = isNew ? await findUserByEmail(email) : { user };
  // Whoever has the address learns it, and whoever asked for it does not.
  if (holder && holder.id !== user_id) {
    return mailReset({ ...message, kind: 'reset', isTaken: true });
  }
  await mailLink(message, { kind: 'verification', user, email, sessionId }, (token) =>
    verificationMail(message, { email, verifyUrl: config.verifyUrl, token }),
  );
};

const mailNotice = async (message: NoticeMessage): Promise<void> => {
  const { email } = message;
  if (!canMail(email, message) || (await exceedsNoticeLimit(message))) return;
  await deliver(email, noticeMail(message, { resetUrl: config.resetUrl }), message);
};

/**
 * Mails what a message asks for. A message that comes again after its link was mailed is ignored.
 * @throws {Error} when it must be tried again: DomainError STORAGE_FAULT, MailUnderWay, or SES's
 */
export const mail = (message: MailMessage): Promise<void> => {
  if (message.kind === 'notice') return mailNotice(message);
  return message.kind === 'reset' ? mailReset(message) : mailVerification(message);
};
