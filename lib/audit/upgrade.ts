/** What entries that were written before the table had all its indexes lack. */
import { ScanCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { config } from '../config.ts';
import { isConditionFailure, send } from '../dynamodb/client.ts';
import type { AuditEntry } from './entry.ts';
import { indexKeys } from './store.ts';

type Item = AuditEntry & Readonly<Record<string, unknown>>;

/** Items that one request reads, and writes under way at once. */
const scanLimit = 500;
const connections = 8;

/** The index keys that an item lacks. */
const missingKeys = (item: Item): readonly (readonly [string, string])[] =>
  Object.entries(indexKeys(item)).filter(([name]) => item[name] === undefined);

/** Adds the keys that an item lacks. @returns whether it lacked any */
const fill = async (item: Item): Promise<boolean> => {
  const keys = missingKeys(item);
  if (keys.length === 0) return false;
  const places = keys.map((_, i) => `#k${i} = :v${i}`);
  try {
    await send(
      new UpdateCommand({
        TableName: config.auditTable,
        Key: { id: item.id },
        UpdateExpression: `SET ${places.join(', ')}`,
        // One that has gone meanwhile is not to come back as a few keys.
        ConditionExpression: 'attribute_exists(id)',
        ExpressionAttributeNames: Object.fromEntries(keys.map(([name], i) => [`#k${i}`, name])),
        ExpressionAttributeValues: Object.fromEntries(keys.map(([, key], i) => [`:v${i}`, key])),
      }),
    );
    return true;
  } catch (error) {
    if (isConditionFailure(error)) return false;
    throw error;
  }
};

const fillAll = async (items: readonly Item[]): Promise<number> => {
  const queue = items.values();
  let filled = 0;
  const work = async () => {
    for (const item of queue) if (await fill(item)) filled += 1;
  };
  await Promise.all(Array.from({ length: connections }, work));
  return filled;
};

/**
 * Adds to every entry the index keys that it lacks, which follow from the entry alone. It changes
 * nothing else, may run beside all other use of the table, and does nothing more when it is run
 * again.
 * @returns how many entries have been read and filled, from time to time
 * @throws {DomainError} STORAGE_FAULT
 */
export async function* fillKeys(): AsyncGenerator<{
  readonly read: number;
  readonly filled: number;
}> {
  let [read, filled] = [0, 0];
  let from: Record<string, unknown> | undefined;
  do {
    const { Items = [], LastEvaluatedKey } = await send(
      new ScanCommand({
        TableName: config.auditTable,
        ConsistentRead: true,
        Limit: scanLimit,
        ExclusiveStartKey: from,
      }),
    );
    filled += await fillAll(Items as Item[]);
    read += Items.length;
    yield { read, filled };
    from = LastEvaluatedKey;
  } while (from);
}
