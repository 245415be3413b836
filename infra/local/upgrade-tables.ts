import { setTimeout as sleep } from 'node:timers/promises';
import {
  DescribeTableCommand,
  DynamoDBClient,
  type TableDescription,
  UpdateTableCommand,
} from '@aws-sdk/client-dynamodb';
import { fillKeys } from '../../lib/audit/upgrade.ts';
import { auditTable, type IndexDefinition } from '../../lib/dynamodb/tables.ts';
import { indexOf, keyDefinitions } from './create-tables.ts';

/** Milliseconds between two looks at an index that is being built, and looks at most. */
const interval = 100;
const maxLooks = 6000;

const describe = async (client: DynamoDBClient, TableName: string): Promise<TableDescription> =>
  (await client.send(new DescribeTableCommand({ TableName }))).Table ?? {};

const isActive = ({ TableStatus, GlobalSecondaryIndexes = [] }: TableDescription): boolean =>
  [TableStatus, ...GlobalSecondaryIndexes.map(({ IndexStatus }) => IndexStatus)].every(
    (status) => (status ?? 'ACTIVE') === 'ACTIVE',
  );

const waitUntilActive = async (client: DynamoDBClient, TableName: string): Promise<void> => {
  for (let looks = 0; looks < maxLooks; looks += 1) {
    if (isActive(await describe(client, TableName))) return;
    await sleep(interval);
  }
  throw new Error(`An index of the table ${TableName} is not built in time.`);
};

const addIndex = async (client: DynamoDBClient, TableName: string, index: IndexDefinition) => {
  await client.send(
    new UpdateTableCommand({
      TableName,
      AttributeDefinitions: keyDefinitions([index.partitionKey, index.sortKey]),
      GlobalSecondaryIndexUpdates: [{ Create: indexOf(index) }],
    }),
  );
  await waitUntilActive(client, TableName);
};

/**
 * Gives the table of audit entries, which lib's settings name, the indexes that it lacks because it
 * was made by an earlier version. The entries get the keys first: as long as an index is missing,
 * the next start does all of it again.
 */
export const upgradeAuditTable = async (endpoint: string, tableName: string): Promise<void> => {
  const client = new DynamoDBClient({ endpoint });
  const { GlobalSecondaryIndexes = [] } = await describe(client, tableName);
  const present = GlobalSecondaryIndexes.map(({ IndexName }) => IndexName);
  const missing = auditTable.indexes.filter(({ name }) => !present.includes(name));
  if (missing.length > 0) {
    console.log('The audit entries of an earlier version get new indexes, once.');
    for await (const _ of fillKeys());
    for (const index of missing) await addIndex(client, tableName, index);
  }
  client.destroy();
};
