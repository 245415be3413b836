/**
 * The sessions of a user, where they are revocable (functions/README.md, Sessions). Each token
 * holds the session number that the user item had when the token was issued, and is valid as long
 * as the item has that number.
 */
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { sendIf } from '../dynamodb/client.ts';
import { config } from '../settings.ts';
import { userKey } from './items.ts';

interface ItemUpdate {
  readonly UpdateExpression: string;
  readonly ExpressionAttributeValues?: Readonly<Record<string, unknown>>;
}

/** Extends an update of a user item, so that the same write ends all sessions of the user. */
export const endingSessions = <Update extends ItemUpdate>(update: Update) =>
  config.sessions === 'stateless'
    ? update
    : {
        ...update,
        UpdateExpression: `${update.UpdateExpression} ADD session_number :one`,
        ExpressionAttributeValues: { ...update.ExpressionAttributeValues, ':one': 1 },
      };

/**
 * Ends all sessions of a user.
 * @returns false when there is no such user
 * @throws {DomainError} STORAGE_FAULT
 */
export const endSessions = (id: number): Promise<boolean> =>
  sendIf(
    new UpdateCommand({
      TableName: config.usersTable,
      Key: userKey(id),
      ConditionExpression: 'attribute_exists(pk)',
      ...endingSessions({ UpdateExpression: '' }),
    }),
  );
