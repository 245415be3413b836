/** Changes of a user by what was read of it, while others may change it too. */

import { storageTime, transact } from '../dynamodb/client.ts';
import { DomainError, namedError, withUnknownOutcome } from '../errors.ts';
import { config } from '../settings.ts';
import { type StoredUser, toUser, userKey } from './items.ts';
import { findStoredUser } from './store.ts';
import {
  type ChangeContext,
  releaseEmail,
  type UserUpdate,
  type Written,
  writeUpdate,
} from './update.ts';
import type { User } from './user.ts';

/** Milliseconds for which writers that race for one user, one of them a round, try again. */
const contentionTimeout = () => storageTime(3000);

/** Rounds that a writer has, however slow the machine is. */
const minRounds = 3;

/**
 * Reads a user and writes by what was read, again for as long as others change it in between.
 * @returns the user as it was before the first attempt, and as it was read for the last one
 * @throws {DomainError} USER_NOT_FOUND, STORAGE_FAULT, and whatever `write` throws
 */
const readThenWrite = async (
  id: number,
  write: (user: StoredUser) => Promise<Written>,
  { permission }: ChangeContext = {},
): Promise<{ before: User; read: User }> => {
  const deadline = performance.now() + contentionTimeout();
  let unsure: User | undefined;
  let known = permission?.user;
  const readAgain = async () => {
    const read = await findStoredUser(id);
    if (!read) throw new DomainError('USER_NOT_FOUND');
    await permission?.check(read);
    return read;
  };
  const tryOnce = async () => {
    const read = known ?? (await readAgain());
    known = undefined;
    const written = await write(read);
    if (written === 'unknown') unsure ??= read;
    return written === 'written' ? { before: unsure ?? read, read } : undefined;
  };
  try {
    for (let round = 0; round < minRounds || performance.now() < deadline; round += 1) {
      const done = await tryOnce();
      if (done) return done;
    }
    throw new DomainError('STORAGE_FAULT', { cause: namedError('Contention') });
  } catch (error) {
    throw unsure ? withUnknownOutcome(error) : error;
  }
};

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
