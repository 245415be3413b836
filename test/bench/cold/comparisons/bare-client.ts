/** Imports the DynamoDB document client and does nothing with it. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

export const handler = async () => ({
  statusCode: 200,
  body: `${DynamoDBClient.name} ${DynamoDBDocumentClient.name}`,
});
