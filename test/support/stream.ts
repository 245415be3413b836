/** The stream of a table's changes, as an engine provides it. */
import { DescribeTableCommand, UpdateTableCommand } from '@aws-sdk/client-dynamodb';
import { inject } from 'vitest';
import { post } from '../../lib/keys/signed-request.ts';
import type { StreamRecord } from '../../lib/options/events/events.ts';
import { engineClient } from './stored-items.ts';

// biome-ignore lint/suspicious/noExplicitAny: the JSON of DynamoDB Streams' API
const call = async (endpoint: string, operation: string, input: object): Promise<any> => {
  const headers = {
    'content-type': 'application/x-amz-json-1.0',
    'x-amz-target': `DynamoDBStreams_20120810.${operation}`,
  };
  const body = JSON.stringify(input);
  const { status, text } = await post({ url: endpoint, service: 'dynamodb', headers, body });
  if (status !== 200) throw new Error(`${operation}: ${text}`);
  return JSON.parse(text);
};

/**
 * Gives a table a stream.
 * @returns a function that returns the records since its last call
 */
export const openStream = async (
  TableName: string,
  endpoint = inject('engine'),
): Promise<() => Promise<readonly StreamRecord[]>> => {
  const client = engineClient(endpoint);
  const StreamSpecification = {
    StreamEnabled: true,
    StreamViewType: 'NEW_AND_OLD_IMAGES',
  } as const;
  await client.send(new UpdateTableCommand({ TableName, StreamSpecification }));
  const { Table } = await client.send(new DescribeTableCommand({ TableName }));
  const StreamArn = Table?.LatestStreamArn;
  const next = new Map<string, string>();
  return async () => {
    const { StreamDescription } = await call(endpoint, 'DescribeStream', { StreamArn });
    const found: StreamRecord[] = [];
    for (const { ShardId } of StreamDescription.Shards) {
      const from = { StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' };
      const ShardIterator =
        next.get(ShardId) ?? (await call(endpoint, 'GetShardIterator', from)).ShardIterator;
      const { Records, NextShardIterator } = await call(endpoint, 'GetRecords', { ShardIterator });
      next.set(ShardId, NextShardIterator);
      found.push(...Records);
    }
    return found;
  };
};
