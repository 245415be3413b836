/** Limits for registrations and for mails, which need no login. */
import { createHash } from 'node:crypto';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { sendIf } from '../dynamodb/client.ts';
import { config } from '../settings.ts';
import { hour, seconds } from '../time.ts';
import { emailKey } from '../users/user.ts';
import {
  countAttempt,
  countingTimeout,
  exceeds,
  logAndIgnoreErrors,
  networkOf,
} from './counters.ts';

/**
 * Counts a registration where registrations are limited, which is off by default.
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

/** Requests for a mail from one IP address within 15 minutes, or one /64 network of IPv6. */
const resetsPerAddress = 20;

/**
 * Counts a request for a password reset, except with LOGIN_FAILURES_PER_ADDRESS=0, which says that
 * the source addresses are not those of the clients.
 * @returns whether it exceeds the limit
 */
export const exceedsResetLimit = async (sourceIp: string): Promise<boolean> =>
  config.loginFailuresPerAddress > 0 &&
  (await exceeds(`attempts#reset#address#${networkOf(sourceIp)}`, resetsPerAddress, new Date()));

/** Notices to one email address within 15 minutes, whichever accounts have it. */
const noticesPerEmail = 10;

/** Notices for one account within an hour, whichever addresses it has. */
const noticesPerUser = 10;

/**
 * Counts a message for a user in this hour. A message that is delivered more than once counts once.
 * @returns false past the limit
 */
const countNotice = (
  { user_id, request_id }: { readonly user_id: number; readonly request_id: string },
  now: number,
): Promise<boolean> => {
  const command = new UpdateCommand({
    TableName: config.usersTable,
    Key: { pk: `attempts#notice#user#${user_id}#${Math.floor(now / hour)}` },
    UpdateExpression: 'SET expires_at = :end ADD requests :requests',
    ConditionExpression:
      'attribute_not_exists(requests) OR size(requests) < :limit OR contains(requests, :request)',
    ExpressionAttributeValues: {
      ':requests': new Set([request_id]),
      ':request': request_id,
      ':limit': noticesPerUser,
      ':end': now + hour,
    },
  });
  return sendIf(command, { timeout: countingTimeout() });
};

/**
 * Counts a notice, which its recipient did not ask for: by changing an account again and again,
 * somebody could flood others with mails.
 * @returns whether it exceeds the limit of its account or of the address
 */
export const exceedsNoticeLimit = async (
  message: { readonly email: string; readonly user_id: number; readonly request_id: string },
  { now = new Date() }: { now?: Date } = {},
): Promise<boolean> => {
  if ((await logAndIgnoreErrors(() => countNotice(message, seconds(now)))) === false) return true;
  const email = createHash('sha256').update(emailKey(message.email)).digest('base64url');
  return exceeds(`attempts#notice#email#${email}`, noticesPerEmail, now);
};
