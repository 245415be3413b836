import { transact } from '../dynamodb/client.ts';
import { config } from '../settings.ts';
import { type StoredUser, toUser, userKey } from './items.ts';
import { type ChangeContext, readThenWrite } from './read-then-write.ts';
import { releaseEmail, type UserUpdate, writeUpdate } from './update.ts';
import type { User } from './user.ts';

/**
 * Changes the given fields of a user, and the email item with the email. A new password or another
 * role ends all sessions of the user.
 * @returns the user before and after the change
 * @throws {DomainError} FORBIDDEN, USER_NOT_FOUND, EMAIL_REGISTERED, STORAGE_FAULT, and whatever the
 *   context's check throws
 */
export const updateUser = async (
  id: number,
  update: UserUpdate,
  context: ChangeContext = {},
): Promise<{ before: User; after: User }> => {
  const isNone = Object.keys(update).length === 0;
  const write = async (user: StoredUser) =>
    isNone ? 'written' : writeUpdate(user, update, context);
  const { before, read } = await readThenWrite(id, write, context);
  return { before, after: toUser({ ...read, ...update }) };
};

/**
 * Deletes a user and frees its email.
 * @returns the user, as it was
 * @throws {DomainError} USER_NOT_FOUND, STORAGE_FAULT
 */
export const deleteUser = async (id: number): Promise<User> => {
  const { read } = await readThenWrite(id, async (user) => {
    const failed = await transact([
      {
        Delete: {
          TableName: config.usersTable,
          Key: userKey(id),
          // What is returned is then what was deleted.
          ConditionExpression: '#name = :name AND #email = :email AND #role = :role',
          ExpressionAttributeNames: { '#name': 'name', '#email': 'email', '#role': 'role' },
          ExpressionAttributeValues: {
            ':name': user.name,
            ':email': user.email,
            ':role': user.role,
          },
        },
      },
      releaseEmail(user),
    ]);
    return failed.length === 0 ? 'written' : 'conflict';
  });
  return toUser({ ...read });
};
