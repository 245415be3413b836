/**
 * Counts the mails that a source asks for, by what it does and not by what is mailed, so that no count says
 * whether somebody has an address (functions/README.md, Limits of mails).
 */
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { sendIf } from '../../dynamodb/client.ts';
import { itemKey } from '../../dynamodb/tables.ts';
import { loggingFaults } from '../../ground/log.ts';
import { config } from '../../ground/settings.ts';
import { networkOf, type Source } from '../../ground/source.ts';
import { patiently, seconds } from '../../ground/time.ts';

/**
 * Mails that one IP address, or one /64 network of IPv6, may cause in a quarter of an hour: by registrations, which
 * may come from a school, by what admins do to others, and by all else.
 */
const limits = { registration: 100, admin: 100, other: 20 } as const;

export type MailCause = keyof typeof limits;

const quarterOfAnHour = 15 * 60;

/** The event of the log when something about limits could not be read or written; nothing is withheld then. */
export const notCounted = 'mail-not-counted';

/** Milliseconds that counting may delay a response. */
export function countingTimeout() {
  return patiently(1000);
}

/**
 * Counts a mail within a quarter of an hour of the clock: nobody waits longer than until its end,
 * however often they ask. With LOGIN_FAILURES_PER_ADDRESS=0, which says that the source addresses are
 * not the clients' own, nothing is counted.
 * @returns the seconds until the source may ask again, if it has asked for too many; 0 otherwise, and when the mail
 *   could not be counted
 */
export async function countForSource(
  cause: MailCause,
  { ip_address }: Source,
  now = new Date(),
): Promise<number> {
  if (config.loginFailuresPerAddress === 0) return 0;
  const quarter = Math.floor(seconds(now) / quarterOfAnHour);
  const end = (quarter + 1) * quarterOfAnHour;
  const command = new UpdateCommand({
    TableName: config.usersTable,
    Key: itemKey('attempts#mail#*', 'address', networkOf(ip_address), cause, quarter),
    UpdateExpression: 'SET expires_at = :end ADD mails :one',
    ConditionExpression: 'attribute_not_exists(pk) OR mails < :limit',
    ExpressionAttributeValues: { ':end': end, ':one': 1, ':limit': limits[cause] },
  });
  const work = () => sendIf(command, { timeout: countingTimeout() });
  return (await loggingFaults(notCounted, work)) === false ? end - seconds(now) : 0;
}
