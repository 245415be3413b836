/**
 * How users are written, whom others may change at the same time: read, decide, write. Each write gives
 * the user a new version. {@link writeUser} has the condition that the user still has the version that
 * was read. If the response to a write was lost, the write is recognised by its version.
 */
import { Overtaken, type Step, transact, untilWritten, updateOnce } from '../dynamodb/client.ts';
import type { ErrorCode } from '../ground/errors.ts';
import { config } from '../ground/settings.ts';
import { emailKey } from './address.ts';
import {
  adminListing,
  claiming,
  emailItemKey,
  newVersion,
  releasing,
  type StoredUser,
  userKey,
} from './item.ts';
import { readUser } from './store.ts';

/** The fields that a change sets in a user's item; it removes those that are undefined. */
export type Fields = Partial<Omit<StoredUser, 'id' | 'created_at' | 'version'>>;

/** A way into an account, as entries and notices name it. */
export type Way = 'password' | 'identities' | 'passkeys';

/** The part of a change of a user that one rule contributes. */
export interface Change {
  readonly fields: Fields;
  /** The ways in that it changes. */
  readonly ways?: readonly Way[];
  /** Further writes and conditions at that instant. */
  readonly steps?: readonly Step[];
}

/**
 * Reads a user, decides and writes, as {@link untilWritten} does.
 * @param known the user as read already, for the first attempt
 * @throws {DomainError} USER_NOT_FOUND, STORAGE_FAULT, and what the change throws
 */
export function rewriteUser<T>(
  id: number,
  change: (user: StoredUser) => Promise<T>,
  known?: StoredUser,
): Promise<T> {
  return untilWritten(() => readUser(id), change, known);
}

/** The condition that a user is an admin at that instant, and not suspended. */
export function requireAdmin(id: number, error: ErrorCode = 'FORBIDDEN'): Step {
  return [
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
}

/**
 * The steps that take an address for a user, unless it is the present one in another spelling. They
 * are apart from {@link writeUser}, so that only functions that change addresses may delete items.
 */
export function takeEmail(user: StoredUser, email = user.email): readonly Step[] {
  if (emailKey(email) === emailKey(user.email)) return [];
  const item = { ...emailItemKey(email), user_id: user.id };
  return [releaseEmail(user), claiming(item, 'EMAIL_REGISTERED')];
}

/** Frees the address of a user, so that others can take it. */
export function releaseEmail({ id, email }: StoredUser): Step {
  return releasing(emailItemKey(email), id);
}

/** All that several rules contribute. */
export function merged(...changes: readonly Change[]): Required<Change> {
  return {
    fields: Object.assign({}, ...changes.map(({ fields }) => fields)),
    steps: changes.flatMap(({ steps = [] }) => steps),
    ways: changes.flatMap(({ ways = [] }) => ways),
  };
}

/**
 * Writes a change of a user, on the condition that nobody has changed the user since the user was read.
 * @returns the user as changed
 * @throws {Overtaken} when others have changed the user
 * @throws {DomainError} STORAGE_FAULT, and the errors of the steps
 */
export async function writeUser(
  user: StoredUser,
  { fields, steps = [] }: Change,
): Promise<StoredUser> {
  const version = newVersion();
  const changed = { ...fields, version };
  // Only admins have the key of their index.
  const { role } = fields;
  const listing = role && { admin_listing: role === 'admin' ? adminListing : undefined };
  const update = updateOf(user, { ...changed, ...listing });
  if (steps.length > 0) await transact([[{ Update: update }], ...steps], version);
  else if (!(await updateOnce(update, (item) => item.version === version))) throw new Overtaken();
  return { ...user, ...changed };
}

/** The condition that nobody has changed a user since the user was read. */
export function unchanged({ version }: StoredUser) {
  return {
    ConditionExpression: 'version = :read',
    ExpressionAttributeValues: { ':read': version },
  };
}

/** The update that sets fields of a user, and removes those that are undefined. */
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
