/** One route of an Express application that reads one item; no token, no secret, no middy. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import express from 'express';
import serverless from 'serverless-http';

const client = DynamoDBDocumentClient.from(new DynamoDBClient({}));
const application = express();

application.get('/api/profile', async (_, response) => {
  const key = { TableName: process.env.USERS_TABLE, Key: { pk: 'user#1' } };
  const { Item } = await client.send(new GetCommand(key));
  response.json({ data: Item });
});

export const handler = serverless(application);
