import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { sendIf } from '../../dynamodb/client.ts';
import { loggingFaults } from '../../ground/log.ts';
import { config } from '../../ground/settings.ts';
import { patiently } from '../../ground/time.ts';
import { type Machine, usedKey } from './machine.ts';

/** The day on which this process last noted a use of each machine, by the id. */
const noted = new Map<number, string>();

/**
 * Notes that a key of a machine is used today (UTC), once a day in each process. Never throws, and takes a second at
 * most on AWS: a fault is logged.
 */
export async function noteUse({ id }: Pick<Machine, 'id'>, now = new Date()): Promise<void> {
  const day = now.toISOString().slice(0, 10);
  if (noted.get(id) === day) return;
  noted.set(id, day);
  const command = new UpdateCommand({
    TableName: config.usersTable,
    Key: usedKey(id),
    UpdateExpression: 'SET #day = :day',
    ConditionExpression: 'attribute_not_exists(pk) OR #day < :day',
    ExpressionAttributeNames: { '#day': 'day' },
    ExpressionAttributeValues: { ':day': day },
  });
  const work = () => sendIf(command, { timeout: patiently(1000) });
  const written = await loggingFaults('machine-use-not-noted', work);
  if (written === undefined) noted.delete(id);
}
