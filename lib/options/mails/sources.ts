/**
 * Counts the mails that a source requests (functions/README.md, Limits of mails). Requests are counted, and not the
 * mails that are sent, so that no count reveals whether an address has an account.
 */
import { itemKey } from '../../dynamodb/tables.ts';
import { loggingFaults } from '../../ground/log.ts';
import { config } from '../../ground/settings.ts';
import { networkOf, type Source } from '../../ground/source.ts';
import { longestDelay, seconds } from '../../ground/time.ts';
import { updateIf } from '../../users/item.ts';

/**
 * The number of mails that one IP address, or one /64 network of IPv6, may cause in a quarter of an hour: by
 * registrations, which may come from a whole school; by what admins do to other users; and by all other requests. And
 * the number that one machine may cause in that time, from any address.
 */
const limits = { registration: 100, admin: 100, machine: 100, other: 20 } as const;

export type MailCause = keyof typeof limits;

/** Under which cause mails to other users count. @param by the user who requests them; undefined: a machine */
export function causeOf(by: number | undefined): MailCause {
  return by === undefined ? 'machine' : 'admin';
}

const quarterOfAnHour = 15 * 60;

/** The event in the log when a count could not be read or written; then no mail is withheld. */
export const notCounted = 'mail-not-counted';

/**
 * Counts a mail in the present quarter of an hour of the clock: however often a source requests mails, it has to wait
 * only until the end of that quarter. LOGIN_FAILURES_PER_ADDRESS=0 means that source addresses are not the clients' own
 * addresses; then nothing is counted.
 * @returns the seconds until the source may request mails again, if it has requested too many; otherwise 0, also when
 *   the mail could not be counted
 */
export async function countForSource(
  cause: MailCause,
  { ip_address, machine_id }: Source,
  now = new Date(),
): Promise<number> {
  const isByMachine = cause === 'machine'; // machines
  if (config.loginFailuresPerAddress === 0 && !isByMachine) return 0;
  const counted = isByMachine ? ['machine', `${machine_id}`] : ['address', networkOf(ip_address)];
  const quarter = Math.floor(seconds(now) / quarterOfAnHour);
  const end = (quarter + 1) * quarterOfAnHour;
  const key = itemKey('attempts#mail#*', ...counted, cause, quarter);
  const update = {
    UpdateExpression: 'SET expires_at = :end ADD mails :one',
    ConditionExpression: 'attribute_not_exists(pk) OR mails < :limit',
    ExpressionAttributeValues: { ':end': end, ':one': 1, ':limit': limits[cause] },
  };
  const work = () => updateIf(key, update, { timeout: longestDelay() });
  return (await loggingFaults(notCounted, work)) === false ? end - seconds(now) : 0;
}
