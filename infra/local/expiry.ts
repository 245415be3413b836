/**
 * Removes expired items from the users table. On AWS, DynamoDB does this by the table's time to live; engines on one
 * machine delete nothing.
 */
import { DeleteCommand, ScanCommand, type ScanCommandInput } from '@aws-sdk/lib-dynamodb';
import { isConditionFailure, send } from '../../lib/dynamodb/client.ts';
import { usersTable } from '../../lib/dynamodb/tables.ts';
import { config } from '../../lib/ground/settings.ts';

/** @returns a function that removes expired items at most once a day, however often it is called */
export function makeRemoval(): (signal: AbortSignal) => Promise<void> {
  let doneOn = '';
  return async (signal) => {
    const now = Date.now();
    const today = new Date(now).toISOString().slice(0, 10);
    if (today === doneOn) return;
    await removeExpiredItems(now, signal);
    doneOn = today;
  };
}

const condition = '#expiry <= :now';

/**
 * Deletes expired items of the users table (counts, links, ended sessions).
 * @param now milliseconds since 1970
 * @throws {DomainError} STORAGE_FAULT
 */
async function removeExpiredItems(now: number, signal: AbortSignal): Promise<void> {
  const past = {
    TableName: config.usersTable,
    ExpressionAttributeNames: { '#expiry': usersTable.timeToLive },
    ExpressionAttributeValues: { ':now': now / 1000 },
  };
  let ExclusiveStartKey: ScanCommandInput['ExclusiveStartKey'];
  do {
    const { name } = usersTable.partitionKey;
    const page = { ExclusiveStartKey, FilterExpression: condition, ProjectionExpression: name };
    const { Items = [], LastEvaluatedKey } = await send(new ScanCommand({ ...past, ...page }));
    for (const Key of Items) {
      const deletion = new DeleteCommand({ ...past, Key, ConditionExpression: condition });
      await send(deletion).catch((error) => {
        // The item was written again after the scan.
        if (!isConditionFailure(error)) throw error;
      });
    }
    ExclusiveStartKey = LastEvaluatedKey;
  } while (ExclusiveStartKey && !signal.aborted);
}
