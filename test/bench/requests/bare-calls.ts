/** What the measured requests cannot do without, by the bare libraries; bundled as functions are. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { compare, hash } from 'bcryptjs';

const client = DynamoDBDocumentClient.from(new DynamoDBClient({}));

export const getItem = (table: string, pk: string) =>
  client.send(new GetCommand({ TableName: table, Key: { pk }, ConsistentRead: true }));

/** The newest entries of one user. */
export const query = (table: string, userId: number, limit: number) =>
  client.send(
    new QueryCommand({
      TableName: table,
      IndexName: 'by_user_id',
      KeyConditionExpression: 'user_key = :user',
      ExpressionAttributeValues: { ':user': String(userId) },
      ScanIndexForward: false,
      Limit: limit,
    }),
  );

export { compare, hash };
