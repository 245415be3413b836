/**
 * Counts the mails that a source requests, by the requests and not by the mails that are sent, so that no count reveals
 * whether an address has an account (functions/README.md, Limits of mails).
 */
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { sendIf } from '../../dynamodb/client.ts';
import { itemKey } from '../../dynamodb/tables.ts';
import { loggingFaults } from '../../ground/log.ts';
import { config } from '../../ground/settings.ts';
import { networkOf, type Source } from '../../ground/source.ts';
import { longestDelay, seconds } from '../../ground/time.ts';

/**
 * Mails that one IP address, or one /64 network of IPv6, may cause in a quarter of an hour: by registrations, which may
 * come from a whole school, by actions of admins on others, and by all other requests.
 */
const limits = { registration: 100, admin: 100, other: 20 } as const;

export type MailCause = keyof typeof limits;

const quarterOfAnHour = 15 * 60;

/** The log event when a count of the limits could not be read or written; then no mail is withheld. */
export const notCounted = 'mail-not-counted';

/**
 * Counts a mail within a quarter of an hour of the clock: however often a source requests mails, it need not wait
 * beyond the end of that quarter. With LOGIN_FAILURES_PER_ADDRESS=0, which means that source addresses are not the
 * clients' own, nothing is counted.
 * @returns the seconds until the source may request mails again, if it has requested too many; 0 otherwise, and when
 *   the mail could not be counted
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
  const work = () => sendIf(command, { timeout: longestDelay() });
  return (await loggingFaults(notCounted, work)) === false ? end - seconds(now) : 0;
}
