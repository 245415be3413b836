/**
 * The request of an admin for a check: a mark in an item of the users table, which the endpoint writes, and which
 * the sealer reads and removes. All functions throw DomainError STORAGE_FAULT.
 */
import { randomUUID } from 'node:crypto';
import { DeleteCommand, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { send, sendIf } from '../dynamodb/client.ts';
import { itemKey } from '../dynamodb/tables.ts';
import { config } from '../ground/settings.ts';

const key = itemKey('audit-seal-check');

/** Stores the mark. @returns false if there was already one */
export function leave(): Promise<boolean> {
  const mark = randomUUID();
  const command = new PutCommand({
    TableName: config.usersTable,
    Item: { ...key, mark },
    // The mark recognises an earlier attempt whose response was lost.
    ConditionExpression: 'attribute_not_exists(pk) OR mark = :mark',
    ExpressionAttributeValues: { ':mark': mark },
  });
  return sendIf(command);
}

/** @returns the mark; undefined if there is none */
export async function read(): Promise<string | undefined> {
  const command = new GetCommand({ TableName: config.usersTable, Key: key, ConsistentRead: true });
  const { Item } = await send(command);
  return Item && String(Item.mark);
}

/** Removes a mark, unless this service has stored another mark since. */
export function remove(mark: string): Promise<boolean> {
  return sendIf(
    new DeleteCommand({
      TableName: config.usersTable,
      Key: key,
      // A mark that this service did not write must not request a check at each run.
      ConditionExpression: 'mark = :mark OR NOT attribute_type(mark, :text)',
      ExpressionAttributeValues: { ':mark': mark, ':text': 'S' },
    }),
  );
}
