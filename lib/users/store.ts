import { BatchGetCommand, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { config } from '../config.ts';
import { isConditionFailure, send, transact } from '../dynamodb/client.ts';
import { type Page, readPage } from '../dynamodb/page.ts';
import { createdAtKey, usersTable } from '../dynamodb/tables.ts';
import { DomainError } from '../errors.ts';
import { emailKey, type Role, type User } from './user.ts';

/** A user as stored: what {@link User} shows, and the hash that nothing shows. */
export type StoredUser = User & { readonly password_hash: string };

/** What an update may write. */
export interface UserUpdate {
  readonly name?: string;
  readonly email?: string;
  readonly role?: Role;
  readonly password_hash?: string;
}

export const userKey = (id: number) => ({ pk: `user#${id}` });
export const emailItemKey = (email: string) => ({ pk: `email#${emailKey(email)}` });

/** Bytes: what DynamoDB allows a partition key. */
const maxKey = 2048;

/** The email item to look up. Text that cannot be a key is looked up as '', which nobody has. */
const wantedEmailKey = (email: string) => {
  const key = emailItemKey(email);
  return email.isWellFormed() && Buffer.byteLength(key.pk) <= maxKey ? key : emailItemKey('');
};
const counterKey = { pk: 'counter' };

const [byCreatedAt] = usersTable.indexes;

/** The values of the partition keys of the two list indexes. */
const listing = 'users';
export const adminListing = 'admins';

const namedError = (name: string) => Object.assign(new Error(), { name });

export const toUser = ({ id, name, email, role, created_at }: Readonly<Record<string, unknown>>) =>
  ({ id, name, email, role, created_at }) as User;

type ItemKey = { readonly pk: string };

/** Requests for what DynamoDB left out of an answer, which it may when it is busy. */
const maxBatchRounds = 3;

/** Reads items of the users table in one request; the items in the order of their keys. */
export const getItems = async (keys: readonly ItemKey[]) => {
  const found = new Map<string, Record<string, unknown>>();
  let missing: readonly ItemKey[] = keys.map(({ pk }) => ({ pk }));
  for (let round = 0; round < maxBatchRounds && missing.length > 0; round += 1) {
    const { Responses, UnprocessedKeys } = await send(
      new BatchGetCommand({
        RequestItems: { [config.usersTable]: { Keys: [...missing], ConsistentRead: true } },
      }),
    );
    for (const item of Responses?.[config.usersTable] ?? []) found.set(item.pk, item);
    missing = (UnprocessedKeys?.[config.usersTable]?.Keys ?? []) as ItemKey[];
  }
  if (missing.length > 0) {
    throw new DomainError('STORAGE_FAULT', { cause: namedError('UnprocessedKeys') });
  }
  return keys.map(({ pk }) => found.get(pk));
};

const getItem = async (key: Readonly<Record<string, string>>) => {
  const { Item } = await send(
    new GetCommand({
      TableName: config.usersTable,
      Key: key,
      ConsistentRead: true,
    }),
  );
  return Item;
};

/**
 * Takes a number of user ids in a row: small, dense, ascending, never used twice (decisions,
 * Identifiers).
 * @returns the first of them
 * @throws {DomainError} STORAGE_FAULT
 */
export const allocateUserIds = async (count: number): Promise<number> => {
  const { Attributes } = await send(
    new UpdateCommand({
      TableName: config.usersTable,
      Key: counterKey,
      UpdateExpression: 'ADD last_id :count',
      ExpressionAttributeValues: { ':count': count },
      ReturnValues: 'UPDATED_NEW',
    }),
  );
  return (Attributes?.last_id as number) - count + 1;
};

/** Takes the next user id. @throws {DomainError} STORAGE_FAULT */
export const allocateUserId = (): Promise<number> => allocateUserIds(1);

/**
 * Stores a new user together with the item that keeps its email unique.
 * @throws {DomainError} EMAIL_REGISTERED, STORAGE_FAULT
 */
export const insertUser = async (user: StoredUser): Promise<void> => {
  const table = config.usersTable;
  const [emailTaken, idTaken] = await transact([
    {
      Put: {
        TableName: table,
        Item: { ...emailItemKey(user.email), user_id: user.id },
        ConditionExpression: 'attribute_not_exists(pk)',
      },
    },
    {
      Put: {
        TableName: table,
        Item: {
          ...userKey(user.id),
          ...user,
          listing,
          ...(user.role === 'admin' ? { admin_listing: adminListing } : {}),
          created_at_id: createdAtKey(user),
        },
        ConditionExpression: 'attribute_not_exists(pk)',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      },
    },
  ]);
  // No two hashes are alike: who has this one was stored by an earlier attempt.
  if (idTaken?.Item?.password_hash?.S === user.password_hash) return;
  if (emailTaken) throw new DomainError('EMAIL_REGISTERED');
  if (idTaken) throw new DomainError('STORAGE_FAULT', { cause: namedError('IdTaken') });
};

/** The user with an id, as last written, or undefined. @throws {DomainError} STORAGE_FAULT */
export const findUser = async (id: number): Promise<User | undefined> => {
  const item = await getItem(userKey(id));
  return item && toUser(item);
};

/**
 * The user who holds an email address in any letter case, with the password hash, or undefined.
 * @param alongside keys of further items to read in the same request as the email item
 * @returns the user, and the further items in the order of their keys
 * @throws {DomainError} STORAGE_FAULT
 */
export const findUserByEmail = async (
  email: string,
  { alongside = [] }: { alongside?: readonly ItemKey[] } = {},
): Promise<{ user: StoredUser | undefined; items: readonly (object | undefined)[] }> => {
  const [emailItem, ...items] = await getItems([wantedEmailKey(email), ...alongside]);
  // Without a user, id 0 is read, which nobody has: both cases cost the same.
  const item = await getItem(userKey(Number(emailItem?.user_id ?? 0)));
  // The user may have left the address between the two reads.
  const isHolder = item !== undefined && emailKey(item.email as string) === emailKey(email);
  const user = isHolder
    ? { ...toUser(item), password_hash: item.password_hash as string }
    : undefined;
  return { user, items };
};

/**
 * One page of users, oldest first.
 * @param after the sort key to begin after, exclusive
 * @throws {DomainError} STORAGE_FAULT
 */
export const listUsers = async (request: {
  limit: number;
  after?: string | undefined;
}): Promise<{ users: readonly User[] } & Pick<Page, 'next'>> => {
  const { entries, ...rest } = await readPage({
    table: config.usersTable,
    index: byCreatedAt,
    partitions: [listing],
    order: 'oldest first',
    ...request,
  });
  return { users: entries.map(toUser), ...rest };
};

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

/** Writes an update that leaves the email item as it is; false when the user changed meanwhile. */
const updateInPlace = async (user: User, update: UserUpdate): Promise<boolean> => {
  try {
    await send(new UpdateCommand(updateWhileAsRead(user, update)));
    return true;
  } catch (error) {
    if (isConditionFailure(error)) return false;
    throw error;
  }
};

/** Moves a user to another address; false when the user changed meanwhile. */
const updateWithEmail = async (user: User, email: string, update: UserUpdate): Promise<boolean> => {
  const [userChanged, addressChanged, addressTaken] = await transact([
    { Update: updateWhileAsRead(user, update) },
    releaseEmail(user),
    {
      Put: {
        TableName: config.usersTable,
        Item: { ...emailItemKey(email), user_id: user.id },
        ConditionExpression: 'attribute_not_exists(pk)',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      },
    },
  ]);
  if (userChanged || addressChanged) return false;
  if (addressTaken) throw new DomainError('EMAIL_REGISTERED');
  return true;
};

/** Milliseconds for which writers that race for one user, one of them a round, try again. */
const contentionTimeout = 3000;

/**
 * Reads a user and writes by what was read, again for as long as others change it in between.
 * @param write returns false when the user is no longer as it was read
 * @throws {DomainError} USER_NOT_FOUND, STORAGE_FAULT, and whatever `write` throws
 */
const readThenWrite = async (
  id: number,
  write: (user: User) => Promise<boolean>,
): Promise<User> => {
  const deadline = Date.now() + contentionTimeout;
  while (Date.now() < deadline) {
    const user = await findUser(id);
    if (!user) throw new DomainError('USER_NOT_FOUND');
    if (await write(user)) return user;
  }
  throw new DomainError('STORAGE_FAULT', { cause: namedError('Contention') });
};

/**
 * Changes the given fields of a user, and the email item with the email.
 * @returns the user after the change
 * @throws {DomainError} USER_NOT_FOUND, EMAIL_REGISTERED, STORAGE_FAULT
 */
export const updateUser = async (id: number, update: UserUpdate): Promise<User> => {
  const { email } = update;
  const before = await readThenWrite(id, async (user) => {
    if (Object.keys(update).length === 0) return true;
    return email === undefined || emailKey(email) === emailKey(user.email)
      ? updateInPlace(user, update)
      : updateWithEmail(user, email, update);
  });
  return toUser({ ...before, ...update });
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
    return failed.length === 0;
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
