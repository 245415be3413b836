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

/** The definitions of key attributes, each once, as CreateTable takes them. */
const keyDefinitions = (keys: readonly KeyAttribute[]): AttributeDefinition[] => {
  const types = new Map(keys.map(({ name, type }) => [name, type]));
  return [...types].map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType }));
};

/** An index as CreateTable takes it. */
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

/** @throws {Error} for a table that lacks an index, because another version has created it */
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
    `The table ${TableName} lacks the index ${missing.name}, because another version of the service created it: delete the data, or set DATA_DIR to another folder.`,
  );
};

/** Errors that may be ignored when the time to live of a table is set. */
const tolerable = [
  // The table has its time to live already.
  'ValidationException',
  // The engine does not support a time to live.
  'UnknownOperationException',
];

/** Makes the engine delete expired items, where it can. */
const setTimeToLive = async (client: DynamoDBClient, TableName: string, AttributeName: string) => {
  const TimeToLiveSpecification = { AttributeName, Enabled: true };
  try {
    await client.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification }));
  } catch (error) {
    if (!tolerable.includes((error as Error).name)) throw error;
  }
};

/**
 * Creates the tables that do not exist yet, and sets the time to live of all.
 * @param names the real name of each table, by its logical name
 * @throws {Error} for a table that another version has created
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
