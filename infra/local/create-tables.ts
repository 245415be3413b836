import {
  type AttributeDefinition,
  CreateTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  type KeySchemaElement,
  ResourceInUseException,
  UpdateTimeToLiveCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import {
  type IndexDefinition,
  type KeyAttribute,
  type TableDefinition,
  tables,
} from '../../lib/dynamodb/tables.ts';

const keySchema = (partitionKey: KeyAttribute, sortKey?: KeyAttribute): KeySchemaElement[] => [
  { AttributeName: partitionKey.name, KeyType: 'HASH' },
  ...(sortKey ? [{ AttributeName: sortKey.name, KeyType: 'RANGE' as const }] : []),
];

/** Keys as DynamoDB is told of them, each once. */
const keyDefinitions = (keys: readonly KeyAttribute[]): AttributeDefinition[] => {
  const types = new Map(keys.map(({ name, type }) => [name, type]));
  return [...types].map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType }));
};

/** An index as DynamoDB is told of it. */
const indexOf = ({ name, partitionKey, sortKey, include }: IndexDefinition) => ({
  IndexName: name,
  KeySchema: keySchema(partitionKey, sortKey),
  Projection: include
    ? { ProjectionType: 'INCLUDE' as const, NonKeyAttributes: [...include] }
    : { ProjectionType: 'ALL' as const },
});

const createTable = (tableName: string, { partitionKey, indexes }: TableDefinition) => {
  const keys = [partitionKey, ...indexes.flatMap((index) => [index.partitionKey, index.sortKey])];
  return new CreateTableCommand({
    TableName: tableName,
    BillingMode: 'PAY_PER_REQUEST',
    KeySchema: keySchema(partitionKey),
    AttributeDefinitions: keyDefinitions(keys),
    GlobalSecondaryIndexes: indexes.map(indexOf),
  });
};

/** @throws {Error} for a table that lacks an index: nothing reads data of another version */
const requireIndexes = async (
  client: DynamoDBClient,
  TableName: string,
  { indexes }: TableDefinition,
): Promise<void> => {
  const { Table } = await client.send(new DescribeTableCommand({ TableName }));
  const present = Table?.GlobalSecondaryIndexes?.map(({ IndexName }) => IndexName);
  const missing = indexes.find(({ name }) => !present?.includes(name));
  if (!missing) return;
  throw new Error(
    `The table ${TableName} lacks the index ${missing.name}, as another version of the service made it: delete the data, or set DATA_DIR to another folder.`,
  );
};

/** Refusals that leave a table as it should be, or as well as the engine can have it. */
const tolerable = [
  // It has its time to live already.
  'ValidationException',
  // The engine deletes nothing by itself.
  'UnknownOperationException',
];

/** Has the engine delete what has expired. */
const setTimeToLive = async (client: DynamoDBClient, TableName: string, AttributeName: string) => {
  const TimeToLiveSpecification = { AttributeName, Enabled: true };
  try {
    await client.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification }));
  } catch (error) {
    if (!tolerable.includes((error as Error).name)) throw error;
  }
};

/**
 * Creates the tables that are not there yet, and sets the time to live of all.
 * @param names the real name of each table, by its logical one
 * @throws {Error} for a table of another version
 */
export const createTables = async (
  endpoint: string,
  names: Readonly<Record<TableDefinition['name'], string>>,
): Promise<void> => {
  const client = new DynamoDBClient({ endpoint });
  for (const table of tables) {
    const TableName = names[table.name];
    try {
      await client.send(createTable(TableName, table));
      await waitUntilTableExists({ client, maxWaitTime: 30, minDelay: 1 }, { TableName });
    } catch (error) {
      if (!(error instanceof ResourceInUseException)) throw error;
      await requireIndexes(client, TableName, table);
    }
    if (table.timeToLive) await setTimeToLive(client, TableName, table.timeToLive);
  }
  client.destroy();
};
