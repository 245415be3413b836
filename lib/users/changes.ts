/** Changes to users that are stored: each is conditional on what was read before it. */
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { config } from '../config.ts';
import { isConditionFailure, send, storageTime, transact } from '../dynamodb/client.ts';
import { DomainError, unsureOf } from '../errors.ts';
import { requireAdmin } from './admins.ts';
import { adminListing, emailItemKey, namedError, toUser, userKey } from './items.ts';
import type { Role } from './role.ts';
import { findUser } from './store.ts';
import { emailKey, type User } from './user.ts';

/** What an update may write. */
export interface UserUpdate {
  readonly name?: string;
  readonly email?: string;
  readonly role?: Role;
  readonly password_hash?: string;
}

/** What an update writes: an admin's item has the key of the admins' index, no other's has. */
const assignments = (update: UserUpdate) => {
  const isAdmin = update.role === 'admin';
  const entries = Object.entries(isAdmin ? { ...update, admin_listing: adminListing } : update);
  const set = `SET ${entries.map(([name]) => `#${name} = :${name}`).join(', ')}`;
  return {
    UpdateExpression: update.role === 'user' ? `${set} REMOVE admin_listing` : set,
    ExpressionAttributeNames: Object.fromEntries(entries.map(([name]) => [`#${name}`, name])),
    ExpressionAttributeValues: Object.fromEntries(
      entries.map(([name, value]) => [`:${name}`, value]),
    ),
  };
};

/** What must be unchanged since a user was read for the answer to an update to be true. */
const answered = ['name', 'email', 'role'] as const;

/** The update of a user item under the condition that it still is as it was read. */
const updateWhileAsRead = (user: User, update: UserUpdate) => {
  const expressions = assignments(update);
  return {
    TableName: config.usersTable,
    Key: userKey(user.id),
    ...expressions,
    ConditionExpression: answered.map((name) => `#${name} = :current_${name}`).join(' AND '),
    ExpressionAttributeNames: {
      ...expressions.ExpressionAttributeNames,
      ...Object.fromEntries(answered.map((name) => [`#${name}`, name])),
    },
    ExpressionAttributeValues: {
      ...expressions.ExpressionAttributeValues,
      ...Object.fromEntries(answered.map((name) => [`:current_${name}`, user[name]])),
    },
  };
};

const releaseEmail = (user: User) => ({
  Delete: {
    TableName: config.usersTable,
    Key: emailItemKey(user.email),
    ConditionExpression: 'user_id = :id',
    ExpressionAttributeValues: { ':id': user.id },
  },
});

/**
 * What holds a transaction that makes a user an admin to the grantor's being one at that instant.
 * Of an admin who changes itself, the condition of the update says so already.
 * @throws {DomainError} FORBIDDEN when it is known before
 */
const requireGrantor = (user: User, { role }: UserUpdate, grantor: number | undefined) => {
  if (role !== 'admin' || grantor === undefined) return [];
  if (grantor !== user.id) return [requireAdmin(grantor)];
  if (user.role !== 'admin') throw new DomainError('FORBIDDEN');
  return [];
};

/** Whether a write was made; not, because the user changed meanwhile; or perhaps it changed it. */
type Written = 'yes' | 'no' | 'perhaps';

/** Writes an update that leaves the email item as it is. */
const updateInPlace = async (
  user: User,
  update: UserUpdate,
  grantor: number | undefined,
): Promise<Written> => {
  const required = requireGrantor(user, update, grantor);
  if (required.length > 0) {
    const [userChanged, grantorIsNoAdmin] = await transact([
      { Update: updateWhileAsRead(user, update) },
      ...required,
    ]);
    if (userChanged) return 'no';
    if (grantorIsNoAdmin) throw new DomainError('FORBIDDEN');
    return 'yes';
  }
  try {
    await send(new UpdateCommand(updateWhileAsRead(user, update)));
    return 'yes';
  } catch (error) {
    if (!isConditionFailure(error)) throw error;
    // An attempt before may have been made, after which the condition does not hold.
    return error.mayHaveHappened ? 'perhaps' : 'no';
  }
};

/** Moves a user to another address. */
const updateWithEmail = async (
  user: User,
  update: UserUpdate & { email: string },
  grantor: number | undefined,
): Promise<Written> => {
  const { email } = update;
  const [userChanged, addressChanged, addressTaken, grantorIsNoAdmin] = await transact([
    { Update: updateWhileAsRead(user, update) },
    releaseEmail(user),
    {
      Put: {
        TableName: config.usersTable,
        Item: { ...emailItemKey(email), user_id: user.id },
        ConditionExpression: 'attribute_not_exists(pk)',
      },
    },
    ...requireGrantor(user, update, grantor),
  ]);
  if (userChanged || addressChanged) return 'no';
  if (grantorIsNoAdmin) throw new DomainError('FORBIDDEN');
  if (addressTaken) throw new DomainError('EMAIL_REGISTERED');
  return 'yes';
};

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
  write: (user: User) => Promise<Written>,
): Promise<{ before: User; read: User }> => {
  const deadline = performance.now() + contentionTimeout();
  let unsure: User | undefined;
  const tryOnce = async () => {
    const read = await findUser(id);
    if (!read) throw new DomainError('USER_NOT_FOUND');
    const written = await write(read);
    if (written === 'perhaps') unsure ??= read;
    return written === 'yes' ? { before: unsure ?? read, read } : undefined;
  };
  try {
    for (let round = 0; round < minRounds || performance.now() < deadline; round += 1) {
      const done = await tryOnce();
      if (done) return done;
    }
    throw new DomainError('STORAGE_FAULT', { cause: namedError('Contention') });
  } catch (error) {
    throw unsure ? unsureOf(error) : error;
  }
};

/**
 * Changes the given fields of a user, and the email item with the email.
 * @param grantor id of the caller, who must be an admin at that instant to make another one;
 *   absent: an operator, who need not
 * @returns the user before and after the change
 * @throws {DomainError} FORBIDDEN, USER_NOT_FOUND, EMAIL_REGISTERED, STORAGE_FAULT
 */
export const updateUser = async (
  id: number,
  update: UserUpdate,
  grantor?: number,
): Promise<{ before: User; after: User }> => {
  const { email } = update;
  const { before, read } = await readThenWrite(id, async (user) => {
    if (Object.keys(update).length === 0) return 'yes';
    return email === undefined || emailKey(email) === emailKey(user.email)
      ? updateInPlace(user, update, grantor)
      : updateWithEmail(user, { ...update, email }, grantor);
  });
  return { before, after: toUser({ ...read, ...update }) };
};

/**
 * Deletes a user and frees its email.
 * @throws {DomainError} USER_NOT_FOUND, STORAGE_FAULT
 */
export const deleteUser = async (id: number): Promise<void> => {
  await readThenWrite(id, async (user) => {
    const failed = await transact([
      {
        Delete: {
          TableName: config.usersTable,
          Key: userKey(id),
          ConditionExpression: '#current = :current',
          ExpressionAttributeNames: { '#current': 'email' },
          ExpressionAttributeValues: { ':current': user.email },
        },
      },
      releaseEmail(user),
    ]);
    return failed.length === 0 ? 'yes' : 'no';
  });
};

/**
 * Replaces a password hash by one of the same password.
 * @param old the hash that was verified; one that was changed since stays
 * @throws {DomainError} STORAGE_FAULT
 */
export const replacePasswordHash = async (
  id: number,
  { old, fresh }: { old: string; fresh: string },
): Promise<void> => {
  await send(
    new UpdateCommand({
      TableName: config.usersTable,
      Key: userKey(id),
      UpdateExpression: 'SET password_hash = :fresh',
      ConditionExpression: 'password_hash = :old',
      ExpressionAttributeValues: { ':old': old, ':fresh': fresh },
    }),
  );
};
