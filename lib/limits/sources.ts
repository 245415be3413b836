/** Limits for what somebody does without a login, by the source address. */
import { config } from '../settings.ts';
import { countAttempt, exceeds, networkOf } from './counters.ts';

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

/** Mails that one IP address, or one /64 network of IPv6, may ask for within 15 minutes. */
const mailsPerAddress = 20;

/**
 * Counts a request for a mail, except with LOGIN_FAILURES_PER_ADDRESS=0, which says that the source
 * addresses are not those of the clients.
 * @returns whether it exceeds the limit
 */
export const exceedsMailLimit = async (sourceIp: string): Promise<boolean> =>
  config.loginFailuresPerAddress > 0 &&
  (await exceeds(`attempts#mail#address#${networkOf(sourceIp)}`, mailsPerAddress, new Date()));
