import { randomUUID } from 'node:crypto';
import {
  DescribeTableCommand,
  type DynamoDBClient,
  UpdateTableCommand,
} from '@aws-sdk/client-dynamodb';
import { afterAll, inject } from 'vitest';
import { createTables } from '../../infra/local/create-tables.ts';
import { type EngineProxy, startProxy } from './proxy.ts';
import { until } from './until.ts';

export interface OwnTables {
  readonly users: string;
  readonly audit: string;
}

/**
 * Creates tables for one test file and points lib to them. lib reads its settings when it is
 * first used, so a test calls this before.
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

/** The same behind a proxy that fails what it is told to, until the file ends. */
export const proxiedTablesForThisFile = async (): Promise<OwnTables & { proxy: EngineProxy }> => {
  const proxy = await startProxy(inject('engine'));
  afterAll(() => proxy.stop());
  return { proxy, ...(await useOwnTables(proxy.url)) };
};

/** Takes an index away from a table, as if an earlier version had created that. */
export const removeIndex = async (
  client: DynamoDBClient,
  TableName: string,
  IndexName: string,
): Promise<void> => {
  const GlobalSecondaryIndexUpdates = [{ Delete: { IndexName } }];
  await client.send(new UpdateTableCommand({ TableName, GlobalSecondaryIndexUpdates }));
  await until(async () => {
    const { Table } = await client.send(new DescribeTableCommand({ TableName }));
    return !Table?.GlobalSecondaryIndexes?.some((index) => index.IndexName === IndexName);
  });
};
