/**
 * How users are written, whom others may change at the same time: read, decide, write. Each write gives
 * the user a new version. {@link writeUser} has the condition that the user still has the version that
 * was read. If the response to a write was lost, the write is recognised by its version.
 */
import { type Step, transact, untilWritten, updateOnce } from '../dynamodb/client.ts';
import type { ErrorCode } from '../errors.ts';
import { config } from '../settings.ts';
import {
  adminListing,
  emailItemKey,
  newVersion,
  type StoredUser,
  userKey,
  voidLink,
  waitingForNone,
} from './items.ts';
import { readUser } from './store.ts';
import { emailKey } from './user.ts';

/**
 * Repeats a change of a user as {@link untilWritten} does. The user is read before each attempt.
 * @param known the user as read already, for the first attempt
 * @throws {DomainError} USER_NOT_FOUND, STORAGE_FAULT, and what the attempt throws
 */
export const rewriteUser = <T>(
  id: number,
  attempt: (user: StoredUser) => Promise<T | undefined>,
  known?: StoredUser,
): Promise<T> =>
  untilWritten(async (number) => attempt((number === 0 && known) || (await readUser(id))));

/** The condition that nobody has changed a user since the user was read. */
export const unchanged = ({ version }: StoredUser) => ({
  ConditionExpression: 'version = :read',
  ExpressionAttributeValues: { ':read': version },
});

/** The update that sets fields of a user, and removes those that are undefined. */
const updateOf = (user: StoredUser, fields: Readonly<Record<string, unknown>>) => {
  const names = Object.keys(fields);
  const set = names.filter((name) => fields[name] !== undefined);
  const removed = names.filter((name) => fields[name] === undefined);
  const { ConditionExpression, ExpressionAttributeValues } = unchanged(user);
  return {
    TableName: config.usersTable,
    Key: userKey(user.id),
    UpdateExpression: [
      `SET ${set.map((name) => `#${name} = :${name}`).join(', ')}`,
      ...(removed.length > 0 ? [`REMOVE ${removed.map((name) => `#${name}`).join(', ')}`] : []),
    ].join(' '),
    ConditionExpression,
    ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
    ExpressionAttributeValues: {
      ...ExpressionAttributeValues,
      ...Object.fromEntries(set.map((name) => [`:${name}`, fields[name]])),
    },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  } as const;
};

/** The condition that a user is an admin at that instant, and not suspended. */
export const requireAdmin = (id: number, error: ErrorCode = 'FORBIDDEN'): Step => [
  {
    ConditionCheck: {
      TableName: config.usersTable,
      Key: userKey(id),
      ConditionExpression: '#role = :admin AND attribute_not_exists(suspended_at)',
      ExpressionAttributeNames: { '#role': 'role' },
      ExpressionAttributeValues: { ':admin': 'admin' },
    },
  },
  error,
];

/** Frees the address of a user, so that others can take it. */
export const releaseEmail = ({ id, email }: StoredUser): Step => [
  {
    Delete: {
      TableName: config.usersTable,
      Key: emailItemKey(email),
      ConditionExpression: 'user_id = :id',
      ExpressionAttributeValues: { ':id': id },
    },
  },
];

/**
 * The steps that take an address for a user, unless it is the present one in another spelling. They
 * are apart from {@link writeUser}, so that only functions that change addresses may delete items.
 */
export const takeEmail = (user: StoredUser, email = user.email): readonly Step[] => {
  if (emailKey(email) === emailKey(user.email)) return [];
  const Put = {
    TableName: config.usersTable,
    Item: { ...emailItemKey(email), user_id: user.id },
    ConditionExpression: 'attribute_not_exists(pk)',
  };
  return [releaseEmail(user), [{ Put }, 'EMAIL_REGISTERED']];
};

/** Voids the link that was mailed to an address which the user gives up, and may take again. */
const voidResetLink = ({ id }: StoredUser): readonly Step[] =>
  config.mailFunctionUrl === '' ? [] : [[{ Update: voidLink('reset', id) }]];

/**
 * Voids the link that verifies an address, used or not, when another address is asked for: before anything
 * is mailed, so that the link does not tell whether that address is free.
 */
const voidEarlierLink = ({ id, pending_id }: StoredUser, change: Fields): readonly Step[] =>
  change.pending_id === undefined || change.pending_id === pending_id
    ? []
    : [[{ Update: voidLink('address', id) }]];

/** What a write sets; it removes what is undefined. */
export type Fields = Partial<Omit<StoredUser, 'id' | 'created_at' | 'version'>>;

/**
 * Writes a change of a user, on the condition that nobody has changed the user since the user was read.
 * Another address ends the wait for a link, and one that waits voids the link before it. Callers who made a user may no longer change that user when the
 * user becomes an admin, and when anybody else sets the password, even the same one, or the address.
 * @param by id of the caller; absent: an operator, or a mailed link
 * @param steps further writes and conditions at that instant; for another address {@link takeEmail}
 * @returns the user as changed; undefined when others have changed it since it was read
 * @throws {DomainError} STORAGE_FAULT, and the errors of the steps
 */
export const writeUser = async (
  user: StoredUser,
  change: Fields,
  { by, steps = [] }: { by?: number | undefined; steps?: readonly Step[] } = {},
): Promise<StoredUser | undefined> => {
  const { email = user.email, role, password_hash } = change;
  const isMoved = email !== user.email;
  const setsCredentials = isMoved || password_hash !== undefined;
  const endsMaking = role === 'admin' || (setsCredentials && user.made_by !== by);
  const version = newVersion();
  const fields = {
    ...change,
    ...(isMoved ? waitingForNone : {}),
    ...(endsMaking ? { made_by: undefined } : {}),
    version,
  };
  // Only admins have the key of their index.
  const listing = role && { admin_listing: role === 'admin' ? adminListing : undefined };
  const update = updateOf(user, { ...fields, ...listing });
  const voided = [...(isMoved ? voidResetLink(user) : []), ...voidEarlierLink(user, change)];
  const all = [...steps, ...voided];
  const isWritten =
    all.length === 0
      ? await updateOnce(update, (item) => item.version === version)
      : await transact([[{ Update: update }], ...all], version);
  return isWritten ? { ...user, ...fields } : undefined;
};
