import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { send, type TransactItem, transact } from '../dynamodb/client.ts';
import { type Page, readPage } from '../dynamodb/page.ts';
import { createdAtKey, usersTable } from '../dynamodb/tables.ts';
import { DomainError, namedError } from '../errors.ts';
import { loggingFaults } from '../log.ts';
import { config } from '../settings.ts';
import { seconds } from '../time.ts';
import {
  adminListing,
  emailItemKey,
  getItem,
  listing,
  type StoredUser,
  toStoredUser,
  toUser,
  userKey,
  verification,
  wantedEmailKey,
} from './items.ts';
import { hashPassword, needsRehash } from './password.ts';
import type { NewUser } from './schema.ts';
import { emailKey, type Role, type User } from './user.ts';

const counterKey = { pk: 'counter' };

const [byCreatedAt, admins] = usersTable.indexes;

const addToCounter = async (count: number): Promise<number> => {
  const { Attributes } = await send(
    new UpdateCommand({
      TableName: config.usersTable,
      Key: counterKey,
      UpdateExpression: 'ADD last_id :count',
      ExpressionAttributeValues: { ':count': count },
      ReturnValues: 'UPDATED_NEW',
    }),
  );
  return Attributes?.last_id as number;
};

/**
 * Takes a number of user ids in a row: small, dense, ascending, never used twice
 * (functions/README.md, Identifiers).
 * @returns the first of these ids
 * @throws {DomainError} STORAGE_FAULT
 */
export const allocateUserIds = async (count: number): Promise<number> => {
  try {
    return (await addToCounter(count)) - count + 1;
  } catch (error) {
    // Ids that were taken in vain only leave a gap, so the outcome does not count as unknown.
    throw new DomainError('STORAGE_FAULT', { cause: (error as DomainError).cause });
  }
};

/** Takes the next user id. @throws {DomainError} STORAGE_FAULT */
export const allocateUserId = (): Promise<number> => allocateUserIds(1);

/** The item of a user, with the keys of the indexes that list the user. */
export const userItem = (user: StoredUser) => ({
  ...userKey(user.id),
  ...user,
  listing,
  ...(user.role === 'admin' ? { admin_listing: adminListing } : {}),
  created_at_id: createdAtKey(user),
});

/**
 * Stores a new user together with the item that keeps its email unique.
 * @param required further conditions at that instant
 * @throws {DomainError} FORBIDDEN when one of those does not hold, EMAIL_REGISTERED, STORAGE_FAULT
 */
export const insertUser = async (
  user: StoredUser,
  required: readonly TransactItem[] = [],
): Promise<void> => {
  const table = config.usersTable;
  const [emailTaken, idTaken, ...broken] = await transact([
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
        Item: userItem(user),
        ConditionExpression: 'attribute_not_exists(pk)',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      },
    },
    ...required,
  ]);
  // No two hashes are alike: a user with this hash was stored by an earlier attempt.
  if (idTaken?.Item?.password_hash?.S === user.password_hash) return;
  if (broken.some((reason) => reason)) throw new DomainError('FORBIDDEN');
  if (emailTaken) throw new DomainError('EMAIL_REGISTERED');
  if (idTaken) throw new DomainError('STORAGE_FAULT', { cause: namedError('IdTaken') });
};

/**
 * Writes what a new user takes, which means nothing: neither the time nor the number of writes tells
 * that nobody was stored.
 */
const insertNobody = async (id: number, now: Date): Promise<void> => {
  const puts = ['email', 'user'].map((part) => ({
    Put: {
      TableName: config.usersTable,
      Item: { pk: `attempts#taken#${id}#${part}`, expires_at: seconds(now) },
      ConditionExpression: 'attribute_not_exists(pk)',
    },
  }));
  await transact(puts);
};

/**
 * Stores a new user as {@link insertUser} does, unless somebody has the address; the work is the same.
 * @returns whether the user was stored
 * @throws {DomainError} FORBIDDEN, STORAGE_FAULT
 */
export const insertIfFree = async (
  user: StoredUser,
  required: readonly TransactItem[] = [],
  { now = new Date() }: { now?: Date } = {},
): Promise<boolean> => {
  const isTaken = (await getItem(emailItemKey(user.email))) !== undefined;
  try {
    await (isTaken ? insertNobody(user.id, now) : insertUser(user, required));
    return !isTaken;
  } catch (error) {
    // Somebody has taken it since.
    if (error instanceof DomainError && error.code === 'EMAIL_REGISTERED') return false;
    throw error;
  }
};

/** The user with an id, as last written, or undefined. @throws {DomainError} STORAGE_FAULT */
export const findStoredUser = async (id: number): Promise<StoredUser | undefined> => {
  const item = await getItem(userKey(id));
  return item && toStoredUser(item);
};

/** The same for a user who must exist. @throws {DomainError} USER_NOT_FOUND, STORAGE_FAULT */
export const readUser = async (id: number): Promise<StoredUser> => {
  const user = await findStoredUser(id);
  if (!user) throw new DomainError('USER_NOT_FOUND');
  return user;
};

/**
 * The user who holds an email address in any letter case, or undefined.
 * @param emailItem as read before
 * @throws {DomainError} STORAGE_FAULT
 */
export const findHolder = async (
  email: string,
  emailItem: Awaited<ReturnType<typeof getItem>>,
): Promise<StoredUser | undefined> => {
  // Without a user, id 0 is read, which nobody has: both cases cost the same.
  const item = await getItem(userKey(Number(emailItem?.user_id ?? 0)));
  // The user may have left the address between the two reads.
  const isHolder = item !== undefined && emailKey(item.email as string) === emailKey(email);
  return isHolder ? toStoredUser(item) : undefined;
};

/** The same, with a read of the email item. @throws {DomainError} STORAGE_FAULT */
export const findUserByEmail = async (email: string): Promise<StoredUser | undefined> =>
  findHolder(email, await getItem(wantedEmailKey(email)));

/**
 * One page of all users, or of the admins, oldest first unless the order says otherwise. One request reads it: 1 MB at
 * most, which is thousands of users. As JSON within JSON they take less than the 6 MB that a Lambda
 * response may have.
 * @param limit users at most; absent: as many as the request reads
 * @param after the sort key to begin after, exclusive
 * @param show makes of an item of the index what a response shows
 * @throws {DomainError} STORAGE_FAULT
 */
export const listUsers = async (
  {
    order = 'asc',
    role,
    ...request
  }: {
    limit?: number | undefined;
    order?: 'asc' | 'desc' | undefined;
    role?: 'admin' | undefined;
    after?: string | undefined;
  },
  show: (item: Readonly<Record<string, unknown>>) => User = toUser,
): Promise<{ users: readonly User[] } & Pick<Page, 'next'>> => {
  const { entries, ...rest } = await readPage({
    table: config.usersTable,
    ...(role
      ? { index: admins, partitions: [adminListing] }
      : { index: byCreatedAt, partitions: [listing] }),
    order: order === 'asc' ? 'oldest first' : 'newest first',
    attributes: byCreatedAt.include,
    mostRequests: 1,
    ...request,
  });
  return { users: entries.map(show), ...rest };
};

/**
 * A new user, to be stored by `insertUser`. The id is allocated while the hash is computed; a user
 * who is never stored leaves a gap.
 * @param isVerified whether the address counts as verified; ignored while EMAIL_VERIFICATION is off
 * @throws {DomainError} HASHING_FAULT, STORAGE_FAULT
 */
export const prepareUser = async (
  { name, email, password }: NewUser,
  role: Role,
  { isVerified }: { isVerified: boolean },
): Promise<StoredUser> => {
  const [password_hash, id] = await Promise.all([hashPassword(password), allocateUserId()]);
  const user = { id, name, email, role, created_at: new Date().toISOString(), password_hash };
  return { ...user, ...verification(isVerified) };
};

/**
 * Replaces a password hash by another one of the same password.
 * @param old the hash that was verified; a hash that was changed since is not replaced
 * @throws {DomainError} STORAGE_FAULT
 */
const replacePasswordHash = async (
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

/**
 * Replaces a hash of a lower cost by one at the current cost, which only a login can do, because it
 * has the password. Never throws: the login succeeds anyway, and the next one tries again.
 */
export const rehash = async (user: StoredUser, password: string): Promise<void> => {
  if (!needsRehash(user.password_hash)) return;
  await loggingFaults('hash-not-raised', async () => {
    const fresh = await hashPassword(password);
    await replacePasswordHash(user.id, { old: user.password_hash, fresh });
  });
};
