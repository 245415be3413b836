/** The calls that the measured requests cannot avoid, by the bare libraries; bundled as functions are. */
import { BatchGetItemCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { compare, hash } from 'bcryptjs';

/**
 * A client for each kind of call, as each function has its own client: on a connection that has carried small responses
 * before, dynoxide sends large responses sooner.
 */
const makeClient = () => DynamoDBDocumentClient.from(new DynamoDBClient({}));
const getting = makeClient();
const batchGetting = makeClient();
const querying = makeClient();
const updating = makeClient();
const posting = makeClient();

export const getItem = (table: string, pk: string) =>
  getting.send(new GetCommand({ TableName: table, Key: { pk }, ConsistentRead: true }));

export const batchGetItem = (table: string, pks: readonly string[]) => {
  const Keys = pks.map((pk) => ({ pk: { S: pk } }));
  return batchGetting.send(
    new BatchGetItemCommand({ RequestItems: { [table]: { Keys, ConsistentRead: true } } }),
  );
};

/** A write of an attribute as long as a session. */
export const updateItem = (table: string, pk: string) =>
  updating.send(
    new UpdateCommand({
      TableName: table,
      Key: { pk },
      UpdateExpression: 'SET #id = :session',
      ExpressionAttributeNames: { '#id': 'session' },
      ExpressionAttributeValues: { ':session': { content: 'x'.repeat(400) } },
    }),
  );

/** The newest entries of one user. */
export const query = (table: string, userId: number, limit: number) =>
  querying.send(
    new QueryCommand({
      TableName: table,
      IndexName: 'by_user_id',
      KeyConditionExpression: 'user_key = :user',
      ExpressionAttributeValues: { ':user': String(userId) },
      ScanIndexForward: false,
      Limit: limit,
    }),
  );

/** All users whom one request returns. */
export const listUsers = (table: string) =>
  querying.send(
    new QueryCommand({
      TableName: table,
      IndexName: 'by_created_at',
      KeyConditionExpression: 'listing = :users',
      ExpressionAttributeValues: { ':users': 'users' },
    }),
  );

/** The reads and writes of a request that posts entries: the machine, the item of the key, and the entries at once. */
export const post = async (
  [users, audit]: readonly [string, string],
  machine: string,
  key: { readonly pk: string },
  entries: readonly { readonly id: number }[],
) => {
  const Key = { pk: machine };
  await posting.send(new GetCommand({ TableName: users, Key, ConsistentRead: true }));
  const isNew = (name: string) => ({ ConditionExpression: `attribute_not_exists(${name})` });
  await posting.send(new PutCommand({ TableName: users, Item: key, ...isNew('pk') }));
  await Promise.all(
    entries.map((Item) => posting.send(new PutCommand({ TableName: audit, Item, ...isNew('id') }))),
  );
};

export { compare, hash };
