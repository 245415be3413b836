import { randomUUID } from 'node:crypto';
import {
  CreateTableCommand,
  DescribeTableCommand,
  type DynamoDBClient,
} from '@aws-sdk/client-dynamodb';
import { afterAll, inject } from 'vitest';
import { createTables } from '../../infra/local/create-tables.ts';
import { type EngineProxy, startProxy } from './proxy.ts';

export interface OwnTables {
  readonly users: string;
  readonly audit: string;
}

/**
 * Creates tables for one test file and directs lib to them. lib reads its settings when it is first used, so a test
 * calls this function before.
 * @param endpoint the engine, or a proxy in front of it
 */
export const useOwnTables = async (endpoint = inject('engine')): Promise<OwnTables> => {
  const tables = { users: `users-${randomUUID()}`, audit: `audit-${randomUUID()}` };
  Object.assign(process.env, {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    USERS_TABLE: tables.users,
    AUDIT_TABLE: tables.audit,
  });
  await createTables(inject('engine'), tables);
  return tables;
};

/** The same tables behind a proxy that injects faults, until the file ends. */
export const proxiedTablesForThisFile = async (): Promise<OwnTables & { proxy: EngineProxy }> => {
  const proxy = await startProxy(inject('engine'));
  afterAll(() => proxy.stop());
  return { proxy, ...(await useOwnTables(proxy.url)) };
};

/** Creates a table like another one but without some indexes, as an earlier version created it. */
export const createWithout = async (
  client: DynamoDBClient,
  indexes: readonly string[],
  { like, TableName }: { readonly like: string; readonly TableName: string },
): Promise<void> => {
  const { Table } = await client.send(new DescribeTableCommand({ TableName: like }));
  const { KeySchema = [], AttributeDefinitions = [], GlobalSecondaryIndexes = [] } = Table ?? {};
  const kept = GlobalSecondaryIndexes.filter(({ IndexName = '' }) => !indexes.includes(IndexName));
  const keys = [KeySchema, ...kept.map((each) => each.KeySchema ?? [])].flat();
  const isKey = (name = '') => keys.some(({ AttributeName }) => AttributeName === name);
  await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema,
      AttributeDefinitions: AttributeDefinitions.filter(({ AttributeName }) =>
        isKey(AttributeName),
      ),
      GlobalSecondaryIndexes: kept.map(({ IndexName, KeySchema: schema, Projection }) => ({
        IndexName,
        KeySchema: schema,
        Projection,
      })),
    }),
  );
};
