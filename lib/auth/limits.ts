/** Limits of what anybody may do without logging in: registrations, and what has mails sent. */
import { createHash } from 'node:crypto';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { sendIf } from '../dynamodb/client.ts';
import type { NoticeMessage } from '../mail/hand-over.ts';
import { config } from '../settings.ts';
import { seconds } from '../time.ts';
import { emailKey } from '../users/user.ts';
import {
  countAttempt,
  countingTimeout,
  exceeds,
  logAndIgnoreErrors,
  networkOf,
} from './counters.ts';

/**
 * Counts a registration, where registrations are limited, as they are not by default.
 * @throws {DomainError} TOO_MANY_ATTEMPTS
 */
export const countRegistration = async (
  sourceIp: string,
  times: { now?: Date } = {},
): Promise<void> => {
  const limit = config.registrationsPerAddress;
  const pk = `attempts#register#address#${networkOf(sourceIp)}`;
  if (limit > 0) await countAttempt([{ pk, limit, count: undefined }], times);
};

/** Requests for a mail from one source address within 15 minutes. */
const resetsPerAddress = 20;

/**
 * Counts a request for a password reset, unless source addresses are not the clients' own, which
 * LOGIN_FAILURES_PER_ADDRESS=0 says.
 * @returns whether it is one too many
 */
export const exceedsResetLimit = async (
  sourceIp: string,
  { now = new Date() }: { now?: Date } = {},
): Promise<boolean> =>
  config.loginFailuresPerAddress > 0 &&
  (await exceeds(`attempts#reset#address#${networkOf(sourceIp)}`, resetsPerAddress, now));

/** Mails of one kind to one address within 15 minutes, whoever has it in between. */
const noticesPerAddress = 10;

/** The same of one account within an hour, whatever its addresses. */
const noticesPerUser = 10;
const hour = 60 * 60;

/** Counts a message of a user in this hour, once however often it comes. @returns false past the limit */
const countNotice = (
  { user_id, request_id }: Pick<NoticeMessage, 'user_id' | 'request_id'>,
  now: number,
): Promise<boolean> => {
  const command = new UpdateCommand({
    TableName: config.usersTable,
    Key: { pk: `attempts#notice#user#${user_id}#${Math.floor(now / hour)}` },
    UpdateExpression: 'SET expires_at = :end ADD requests :requests',
    ConditionExpression:
      'attribute_not_exists(requests) OR size(requests) < :limit OR contains(requests, :request)',
    ExpressionAttributeValues: {
      ...{ ':requests': new Set([request_id]), ':request': request_id },
      ...{ ':limit': noticesPerUser, ':end': now + hour },
    },
  });
  return sendIf(command, { timeout: countingTimeout() });
};

/**
 * Counts a mail that nobody asked for: who changes an account to and fro has others mailed.
 * @returns whether it is one too many for its account, or for the address
 */
export const exceedsNoticeLimit = async (
  message: Pick<NoticeMessage, 'email' | 'user_id' | 'request_id'>,
  { now = new Date() }: { now?: Date } = {},
): Promise<boolean> => {
  if ((await logAndIgnoreErrors(() => countNotice(message, seconds(now)))) === false) return true;
  const address = createHash('sha256').update(emailKey(message.email)).digest('base64url');
  return exceeds(`attempts#notice#account#${address}`, noticesPerAddress, now);
};
