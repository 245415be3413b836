/**
 * How users are written while others may change them: read, decide, write. Each write gives the user a new version.
 * {@link writeUser} writes only if the user still has the version that was read. If the response to a write is lost,
 * the version shows that the write was made.
 */
import { Overtaken, transact, untilWritten, updateOnce } from '../dynamodb/client.ts';
import type { ErrorCode } from '../ground/errors.ts';
import { config } from '../ground/settings.ts';
import { emailKey } from './address.ts';
import {
  adminListing,
  type Change,
  claiming,
  emailItemKey,
  merged,
  newVersion,
  releasing,
  type StoredUser,
  userKey,
} from './item.ts';
import { readUser } from './store.ts';

/**
 * Reads a user, decides and writes, as {@link untilWritten} does.
 * @param known the user for the first attempt, if already read
 * @throws {DomainError} USER_NOT_FOUND, and the errors of the change
 */
export function rewriteUser<T>(
  id: number,
  change: (user: StoredUser) => Promise<T>,
  known?: StoredUser,
): Promise<T> {
  return untilWritten(() => readUser(id), change, known);
}

/** The user must be an admin, and not suspended, at the instant of the write. A machine, without an id, is not. */
export function adminRequired(id: number | undefined, error: ErrorCode = 'FORBIDDEN'): Change {
  const check = {
    TableName: config.usersTable,
    // Nobody has the id 0.
    Key: userKey(id ?? 0),
    ConditionExpression: '#role = :admin AND attribute_not_exists(suspended_at)',
    ExpressionAttributeNames: { '#role': 'role' },
    ExpressionAttributeValues: { ':admin': 'admin' },
  };
  return { steps: [[{ ConditionCheck: check }, error]] };
}

/** The change after which whoever created a user may no longer change that user. */
export const makerForgotten: Change = { fields: { made_by: undefined } };

/**
 * The change that claims an address for a user, unless it is the user's present address in another spelling. It is
 * separate from {@link writeUser}, so that only functions that change addresses may delete items.
 */
export function emailClaimed(user: StoredUser, email = user.email): Change {
  if (emailKey(email) === emailKey(user.email)) return {};
  const item = { ...emailItemKey(email), user_id: user.id };
  return merged(emailReleased(user), { steps: [claiming(item, 'EMAIL_REGISTERED')] });
}

export function emailReleased({ id, email }: StoredUser): Change {
  return { steps: [releasing(emailItemKey(email), id)] };
}

/**
 * Writes changes on the condition that nobody has changed the user since the user was read.
 * @throws {Overtaken} when others have changed the user
 */
export async function writeUser(
  user: StoredUser,
  ...changes: readonly Change[]
): Promise<StoredUser> {
  const { fields, steps } = merged(...changes);
  const version = newVersion();
  const changed = { ...fields, version };
  // Only the items of admins have the key of the index of admins.
  const { role } = fields;
  const listing = role && { admin_listing: role === 'admin' ? adminListing : undefined };
  const update = updateOf(user, { ...changed, ...listing });
  if (steps.length > 0) await transact([[{ Update: update }], ...steps], version);
  else if (!(await updateOnce(update, (item) => item.version === version))) throw new Overtaken();
  return { ...user, ...changed };
}

export function unchanged({ version }: Pick<StoredUser, 'version'>) {
  return {
    ConditionExpression: 'version = :read',
    ExpressionAttributeValues: { ':read': version },
  };
}

function updateOf(user: StoredUser, fields: Readonly<Record<string, unknown>>) {
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
}
