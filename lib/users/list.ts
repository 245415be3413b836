import { readPage } from '../dynamodb/page.ts';
import { usersIndexes } from '../dynamodb/tables.ts';
import { invalidParameter } from '../ground/errors.ts';
import { config } from '../ground/settings.ts';
import { emailKey, searchable } from './address.ts';
import {
  adminListing,
  getItems,
  type ListedUser,
  listing,
  type StoredUser,
  userKey,
} from './item.ts';
import { isSuspended, type Role, type Status, type User } from './user.ts';

/** The conditions that the users of a list meet; an absent condition matches all users. */
export interface UserFilter {
  readonly email?: string | undefined;
  readonly role?: Role | undefined;
  readonly search?: string | undefined;
  readonly status?: Status | undefined;
  readonly auditor?: 'true' | undefined;
}

type Filtered = Pick<
  User,
  'name' | 'email' | 'role' | 'auditor' | 'suspended_at' | 'invited_until' | 'email_verified'
>;

const has: Readonly<Record<Status, (user: Filtered) => boolean>> = {
  // The invitation may have ended, but nobody has used it.
  invited: ({ invited_until }) => invited_until !== undefined,
  suspended: isSuspended,
  unverified: ({ email_verified }) => email_verified !== true,
};

/** The most users of a page that shows all data of its users, because one request reads all their items. */
export const mostWhole = 100;

/** Requires that the parameters of a list can be combined. @throws {DomainError} PARAMETER_INVALID */
export function requireListable({
  email,
  cursor,
  attributes,
  seenBefore,
  search,
  role,
  status,
  auditor,
  limit = 1,
}: UserFilter & {
  readonly cursor?: string | undefined;
  readonly attributes?: string | undefined;
  readonly seenBefore?: string | undefined;
  readonly limit?: number | undefined;
}): void {
  if (email !== undefined && cursor !== undefined) {
    throw invalidParameter('cursor', 'must not be given with email');
  }
  const whole = firstGiven({ attributes, seenBefore });
  if (whole !== undefined && limit > mostWhole) {
    throw invalidParameter('limit', `must be a whole number from 1 to ${mostWhole} with ${whole}`);
  }
  const filter = firstGiven({ search, role, status, auditor, email });
  if (seenBefore !== undefined && filter !== undefined) {
    throw invalidParameter('seenBefore', `must not be given with ${filter}`);
  }
}

/** The users of a page as last written, without deleted users. @param users at most {@link mostWhole} */
export async function storedUsersOf(users: readonly ListedUser[]): Promise<readonly StoredUser[]> {
  const items = await getItems(users.map(({ id }) => userKey(id)));
  return items.filter((item) => item !== undefined) as unknown as readonly StoredUser[];
}

/** Whether a user is in the list that a filter selects. */
export function isListed(
  user: Filtered,
  { email = user.email, role = user.role, ...others }: UserFilter,
): boolean {
  const isWanted = emailKey(email) === emailKey(user.email) && role === user.role;
  return isWanted && (matching(others)?.(user) ?? true);
}

/** Undefined if an index has all conditions; otherwise the list must be walked. */
export function matching({
  search,
  status,
  auditor,
}: UserFilter): ((user: Filtered) => boolean) | undefined {
  const conditions = [
    ...(search === undefined ? [] : [having(search)]),
    ...(status === undefined ? [] : [has[status]]),
    ...(auditor === undefined ? [] : [(user: Filtered) => user.auditor === true]),
  ];
  return conditions.length > 0 ? (user) => conditions.every((holds) => holds(user)) : undefined;
}

/** Makes a function that says whether the name or the address of a user contains a text, in any letter case. */
export function having(part: string) {
  const wanted = searchable(part);
  return ({ name, email }: Pick<User, 'name' | 'email'>): boolean =>
    [name, email].some((text) => searchable(text).includes(wanted));
}

/**
 * One page of all users, or of the admins, with the oldest or the newest first. One request reads the page: 1 MB at
 * most, which is thousands of users. As JSON within JSON, these users take less than the 6 MB that a Lambda response
 * may have. With `matches` it reads up to 1 MB whatever its limit is, and may find nobody, so that a page may be empty.
 * @param matches whether a user is wanted; absent: all are
 * @param limit users at most; absent: as many as the request reads
 * @param after the sort key after which the page begins
 */
export async function listUsers({
  order,
  role,
  matches,
  limit,
  after,
}: {
  matches?: ((user: Filtered) => boolean) | undefined;
  limit?: number | undefined;
  order: 'asc' | 'desc';
  role?: 'admin' | undefined;
  after?: string | undefined;
}): Promise<{ users: readonly ListedUser[]; next: string | undefined }> {
  const { entries, next, nextAfter } = await readPage({
    table: config.usersTable,
    ...(role
      ? { index: usersIndexes.admins, partitions: [adminListing] }
      : { index: usersIndexes.byCreatedAt, partitions: [listing] }),
    order,
    attributes: usersIndexes.byCreatedAt.include,
    mostRequests: 1,
    after,
    ...(matches ? { matches: (entry) => matches(entry as unknown as ListedUser) } : { limit }),
  });
  const users = entries.slice(0, limit).map((entry) => entry as unknown as ListedUser);
  return { users, next: limit ? nextAfter(limit) : next };
}

function firstGiven(parameters: Readonly<Record<string, unknown>>): string | undefined {
  return Object.keys(parameters).find((name) => parameters[name] !== undefined);
}
