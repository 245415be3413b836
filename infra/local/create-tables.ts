import { setTimeout as sleep } from 'node:timers/promises';
import {
  type AttributeDefinition,
  CreateTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  type KeySchemaElement,
  ResourceInUseException,
  UpdateTableCommand,
  type UpdateTableCommandInput,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import {
  type IndexDefinition,
  type KeyAttribute,
  type TableDefinition,
  tables,
} from '../../lib/dynamodb/tables.ts';

/**
 * Creates missing tables, and adds missing indexes to existing tables. The tables have no time to live, because the
 * service removes expired items itself (expiry.ts).
 * @param names the real name of each table, by its logical name
 * @param isOwn whether this process has started the engine; indexes are not added in any other engine
 * @throws {Error} for a table that is used for something else, or that lacks an index in an engine that this process
 *   has not started
 */
export async function createTables(
  endpoint: string,
  names: Readonly<Record<TableDefinition['name'], string>>,
  { isOwn = false }: { isOwn?: boolean } = {},
): Promise<void> {
  const client = new DynamoDBClient({ endpoint });
  for (const table of tables) {
    const TableName = names[table.name];
    try {
      await client.send(createTable(TableName, table));
      await waitUntilTableExists({ client, maxWaitTime: 30, minDelay: 1 }, { TableName });
    } catch (error) {
      if (!(error instanceof ResourceInUseException)) throw error;
      await addMissingIndexes({ client, endpoint, isOwn }, TableName, table);
    }
  }
  client.destroy();
}

function createTable(tableName: string, { partitionKey, indexes }: TableDefinition) {
  const keys = [partitionKey, ...indexes.flatMap((index) => [index.partitionKey, index.sortKey])];
  return new CreateTableCommand({
    TableName: tableName,
    BillingMode: 'PAY_PER_REQUEST',
    KeySchema: keySchema(partitionKey),
    AttributeDefinitions: keyDefinitions(keys),
    GlobalSecondaryIndexes: indexes.map(indexOf),
  });
}

function keySchema(partitionKey: KeyAttribute, sortKey?: KeyAttribute): KeySchemaElement[] {
  return [
    { AttributeName: partitionKey.name, KeyType: 'HASH' },
    ...(sortKey ? [{ AttributeName: sortKey.name, KeyType: 'RANGE' as const }] : []),
  ];
}

function keyDefinitions(keys: readonly KeyAttribute[]): AttributeDefinition[] {
  const types = new Map(keys.map(({ name, type }) => [name, type]));
  return [...types].map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType }));
}

function indexOf({ name, partitionKey, sortKey, include }: IndexDefinition) {
  return {
    IndexName: name,
    KeySchema: keySchema(partitionKey, sortKey),
    Projection: include
      ? { ProjectionType: 'INCLUDE' as const, NonKeyAttributes: [...include] }
      : { ProjectionType: 'ALL' as const },
  };
}

interface Place {
  readonly client: DynamoDBClient;
  readonly endpoint: string;
  readonly isOwn: boolean;
}

/** Milliseconds between two checks of an index. */
const lookInterval = 100;

/**
 * Adds to a table the indexes that it lacks, one after the other, as DynamoDB requires. Prints a line for each index,
 * and waits until the engine has put all items into the index.
 * @throws {Error} for a missing index in an engine that this process has not started; the message has the command that
 *   adds the index
 */
async function addMissingIndexes(
  place: Place,
  TableName: string,
  table: TableDefinition,
): Promise<void> {
  let statuses = await statusesOf(place, TableName, table);
  for (const index of table.indexes) {
    if (!statuses.has(index.name)) await addIndex(place, TableName, index);
    while (statuses.get(index.name) !== 'ACTIVE') {
      await sleep(lookInterval);
      statuses = await statusesOf(place, TableName, table);
    }
  }
}

async function statusesOf(
  { client }: Place,
  TableName: string,
  { partitionKey, variable }: TableDefinition,
) {
  const { Table } = await client.send(new DescribeTableCommand({ TableName }));
  if (!Table?.KeySchema?.some(({ AttributeName }) => AttributeName === partitionKey.name)) {
    throw new Error(`The table ${TableName} has another key: set ${variable} to another name.`);
  }
  const indexes = Table.GlobalSecondaryIndexes ?? [];
  return new Map(indexes.map(({ IndexName, IndexStatus }) => [IndexName, IndexStatus]));
}

async function addIndex(
  { client, endpoint, isOwn }: Place,
  TableName: string,
  index: IndexDefinition,
): Promise<void> {
  const addition: UpdateTableCommandInput = {
    TableName,
    AttributeDefinitions: keyDefinitions([index.partitionKey, index.sortKey]),
    GlobalSecondaryIndexUpdates: [{ Create: indexOf(index) }],
  };
  const lack = `The table ${TableName} lacks the index ${index.name}, which this version needs`;
  if (!isOwn) {
    const region = await client.config.region();
    throw new Error(
      `${lack}; the service adds none at an engine that it has not started, so add it by this command, and start again:
aws dynamodb update-table --endpoint-url ${endpoint} --region ${region} --cli-input-json '${JSON.stringify(addition)}'`,
    );
  }
  console.log(`${lack}: it is added before the service starts.`);
  await client.send(new UpdateTableCommand(addition));
}
