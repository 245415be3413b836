/** The counters of a login, and how a success deletes that of its account. */
import { createHmac } from 'node:crypto';
import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { sendIf } from '../dynamodb/client.ts';
import { notBlocked } from '../limits/count.ts';
import {
  type Counter,
  countingTimeout,
  logAndIgnoreErrors,
  networkOf,
  type SeenCounter,
} from '../limits/counters.ts';
import { config } from '../settings.ts';
import { seconds } from '../time.ts';
import { hasFactor, type StoredUser } from '../users/items.ts';
import { emailKey } from '../users/user.ts';
import { signingKeys } from './signing-secret.ts';

/** The address is stored only as a keyed digest, because people mistakenly type passwords there. */
const accountCounter = async (email: string): Promise<Counter> => {
  const [{ keyObject }] = await signingKeys();
  const account = createHmac('sha256', keyObject).update(`login.v1:${emailKey(email)}`);
  const pk = `attempts#login#account#${account.digest('base64url')}`;
  return { pk, limit: config.loginFailuresPerAccount, ofAccount: true };
};

/**
 * The counter of an account's failed logins, to be deleted; undefined if the signing secret cannot
 * be read.
 */
export const failuresOf = (email: string): Promise<Counter | undefined> =>
  logAndIgnoreErrors(() => accountCounter(email));

/** The counter of a user: another address must not give further guesses at a code. */
const userCounter = ({ id }: StoredUser): Counter => ({
  pk: `attempts#login#user#${id}`,
  limit: config.loginFailuresPerAccount,
  ofAccount: true,
});

/**
 * The counters of a login, without those that are switched off or have no key for want of the
 * secret.
 * @param user whose password or code is checked, once known: one with a second factor is counted too
 */
export const loginCounters = async (
  email: string,
  sourceIp: string,
  user?: StoredUser,
): Promise<Counter[]> => {
  const ofAccount = await logAndIgnoreErrors(() => accountCounter(email));
  const pk = `attempts#login#address#${networkOf(sourceIp)}`;
  const ofAddress = { pk, limit: config.loginFailuresPerAddress };
  const ofUser = user && hasFactor(user) ? [userCounter(user)] : [];
  return [...(ofAccount ? [ofAccount] : []), ofAddress, ...ofUser].filter(({ limit }) => limit > 0);
};

/** Deletes a count, unless it has reached its limit meanwhile. */
const forget = async ({ pk }: Counter, now: Date): Promise<void> => {
  const command = new DeleteCommand({
    TableName: config.usersTable,
    Key: { pk },
    ConditionExpression: notBlocked,
    ExpressionAttributeValues: { ':now': seconds(now) },
  });
  await sendIf(command, { timeout: countingTimeout() });
};

/** Deletes the counts of an account's failed logins after a successful one, if there are any. */
export const forgetFailures = async (
  seen: readonly SeenCounter[],
  { now = new Date() }: { now?: Date } = {},
): Promise<void> => {
  const counted = seen.filter(({ ofAccount, count }) => ofAccount && count);
  await Promise.all(counted.map((each) => logAndIgnoreErrors(() => forget(each, now))));
};
