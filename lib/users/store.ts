import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { send, transact } from '../dynamodb/client.ts';
import { createdAtKey, itemKey } from '../dynamodb/tables.ts';
import { DomainError } from '../ground/errors.ts';
import { config } from '../ground/settings.ts';
import { seconds } from '../ground/time.ts';
import { emailKey } from './address.ts';
import type { NewUser } from './fields.ts';
import {
  adminListing,
  type Change,
  emailItemKey,
  getItem,
  type ItemKey,
  listing,
  merged,
  newVersion,
  type StoredUser,
  updateIf,
  userKey,
  wantedEmailKey,
} from './item.ts';
import { hashPassword } from './password.ts';
import { type Role, unmatchableHash } from './user.ts';

/** Stores a new user together with the item that keeps the user's address unique. */
export async function insertUser(user: StoredUser, ...changes: readonly Change[]): Promise<void> {
  const { fields, steps: required } = merged(...changes);
  const put = (Item: Readonly<Record<string, unknown>>) => ({
    Put: {
      TableName: config.usersTable,
      Item,
      ConditionExpression: 'attribute_not_exists(pk)',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    } as const,
  });
  const address = { ...emailItemKey(user.email), user_id: user.id };
  const steps = [
    ...required,
    [put(address), 'EMAIL_REGISTERED'],
    [put(userItem({ ...user, ...fields })), 'STORAGE_FAULT'],
  ] as const;
  await transact(steps, user.version);
}

/**
 * Does the same as {@link insertUser}, but with the same amount of work whether or not the address is taken, for a
 * caller who must not learn this.
 */
export async function insertUnseen(user: StoredUser, ...changes: readonly Change[]): Promise<void> {
  const isTaken = (await getItem(emailItemKey(user.email))) !== undefined;
  await (isTaken ? insertNobody(user.id) : insertUser(user, ...changes));
  if (isTaken) throw new DomainError('EMAIL_REGISTERED');
}

/** The item of a user, with the keys of the indexes that list the user. */
export function userItem(user: StoredUser) {
  return {
    ...userKey(user.id),
    ...user,
    listing,
    ...(user.role === 'admin' ? { admin_listing: adminListing } : {}),
    created_at_id: createdAtKey(user),
  };
}

/** The user with an id. A caller who is already read is not read again. @throws {DomainError} USER_NOT_FOUND */
export async function readUser(id: number, caller?: StoredUser): Promise<StoredUser> {
  const user = caller?.id === id ? caller : await findStoredUser(id);
  if (!user) throw new DomainError('USER_NOT_FOUND');
  return user;
}

/** The user with an id, as last written, or undefined. */
export function findStoredUser(id: number): Promise<StoredUser | undefined> {
  return getItem<StoredUser>(userKey(id));
}

/** The user who holds an email address; reads its email item. */
export async function findUserByEmail(email: string): Promise<StoredUser | undefined> {
  return findHolder(email, await getItem(wantedEmailKey(email)));
}

/** The user who holds an address in any spelling. @param emailItem the email item of the address, if there is one */
export async function findHolder(
  email: string,
  emailItem: { readonly user_id?: number } | undefined,
): Promise<StoredUser | undefined> {
  // If no user has the address, id 0 is read, which nobody has: both cases take the same time.
  const user = await findStoredUser(Number(emailItem?.user_id ?? 0));
  // The user may have changed to another address between the two reads.
  return user && emailKey(user.email) === emailKey(email) ? user : undefined;
}

/**
 * A new user, to be stored by `insertUser`. The id is allocated while the hash is computed; a user who is never stored
 * leaves a gap.
 * @param password undefined: the user has no password, and logs in by an identity
 */
export async function prepareUser(
  { name, email, password }: Omit<NewUser, 'password'> & { password: string | undefined },
  role: Role,
): Promise<StoredUser> {
  const hash = password === undefined ? unmatchableHash() : hashPassword(password);
  const [password_hash, id] = await Promise.all([hash, allocateUserId()]);
  const created_at = new Date().toISOString();
  const version = newVersion();
  return { id, name, email, role, created_at, version, password_hash };
}

/**
 * Takes the next user id, or several consecutive ones. Ids are small, dense and ascending, and are never used twice
 * (functions/README.md, Responses).
 * @returns the first of these ids
 */
export function allocateUserId(count = 1): Promise<number> {
  return allocateIds(itemKey('counter'), 'last_id', count);
}

/** Takes consecutive ids from a counter, of which an attribute holds the last id. @returns the first of these ids */
export async function allocateIds(Key: ItemKey, attribute: string, count = 1): Promise<number> {
  const command = new UpdateCommand({
    TableName: config.usersTable,
    Key,
    UpdateExpression: 'ADD #last :count',
    ExpressionAttributeNames: { '#last': attribute },
    ExpressionAttributeValues: { ':count': count },
    ReturnValues: 'UPDATED_NEW',
  });
  try {
    const { Attributes } = await send(command);
    return (Attributes?.[attribute] as number) - count + 1;
  } catch (error) {
    // If ids were taken but are not used, only a gap remains; so the outcome does not count as unknown.
    throw new DomainError('STORAGE_FAULT', { cause: (error as DomainError).cause });
  }
}

/**
 * Raises the counter of a table that was restored from a backup, so that no new user gets an id that was already used.
 */
export function passUserIds(last: number): Promise<boolean> {
  return updateIf(itemKey('counter'), {
    UpdateExpression: 'SET last_id = :last',
    ConditionExpression: 'attribute_not_exists(last_id) OR last_id < :last',
    ExpressionAttributeValues: { ':last': last },
  });
}

/**
 * Makes as many writes as a new user requires, but stores no user, so that neither the time nor the number of writes
 * reveals that the address is taken.
 */
async function insertNobody(id: number, now = new Date()): Promise<void> {
  const puts = ['email', 'user'].map((part) => ({
    Put: {
      TableName: config.usersTable,
      Item: { ...itemKey('attempts#taken#*', id, part), expires_at: seconds(now) },
      ConditionExpression: 'attribute_not_exists(pk)',
    },
  }));
  await transact(puts.map((put) => [put]));
}
