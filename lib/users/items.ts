/** The items of the users table that belong to users, and how they are read. */
import { randomBytes, randomUUID } from 'node:crypto';
import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { readItems, send } from '../dynamodb/client.ts';
import { config } from '../settings.ts';
import { hour, seconds } from '../time.ts';
import { emailKey, type Role, type User } from './user.ts';

/** An identity: who vouches, and for whom. */
export interface IdentityName {
  readonly issuer: string;
  readonly subject: string;
}

/** An identity as its user's item has it. */
export interface StoredIdentity extends IdentityName {
  readonly id: string;
  /** The address that the issuer has verified, if it said one. */
  readonly email: string | null;
  /** When it was linked. */
  readonly created_at: string;
}

/** A user as stored: the fields that responses show, and those that no response shows. */
export type StoredUser = User & {
  /** A new one with each write. */
  readonly version: string;
  readonly password_hash: string;
  /** For an imported user: `importMark` of the hash in the imported file. */
  readonly import_mark?: string;
  /** How often all sessions of the user were ended; see lib/users/sessions.ts. Absent: never. */
  readonly session_epoch?: number | undefined;
  /** The session spared when all others last ended. */
  readonly kept_session?: string | undefined;
  /**
   * Id of the caller who created the user by POST /api/users; removed when anybody else gives the
   * user a password or another address, and when the user becomes an admin or gets a second factor or an
   * identity.
   */
  readonly made_by?: number | undefined;
  /** The secret of the user's second factor, encrypted; absent: there is none. */
  readonly factor_secret?: string | undefined;
  /** The step of time of the last code from an app that was accepted. */
  readonly factor_step?: number | undefined;
  /** Hashes of the recovery codes that were not used. */
  readonly recovery_codes?: ReadonlySet<string> | undefined;
  /** A second factor that no code has confirmed, and when it becomes void (seconds since 1970). */
  readonly enrolment?: { readonly secret: string; readonly until: number } | undefined;
  /** The identities by which the user logs in; absent: none. */
  readonly identities?: readonly StoredIdentity[] | undefined;
  /** When `pending_email` is void, in seconds since 1970. */
  readonly pending_until?: number | undefined;
  /** A new id whenever another address is asked for: links for earlier requests are void. */
  readonly pending_id?: string | undefined;
};

/** A version of a user item that no other write has made. */
export const newVersion = (): string => randomBytes(12).toString('base64url');

/**
 * Whether a user logs in with a code (functions/README.md, Second factor). Never while
 * SECOND_FACTOR is off.
 */
export const hasFactor = ({ factor_secret }: StoredUser): boolean =>
  config.secondFactor !== 'off' && factor_secret !== undefined;

/** The part of a second factor that responses show. */
export const factorStanding = ({ factor_secret, recovery_codes }: StoredUser) => ({
  enabled: factor_secret !== undefined,
  recovery_codes_left: recovery_codes?.size ?? 0,
});

/** An identity as responses show it. */
export const shownIdentity = ({ id, issuer, email, created_at }: StoredIdentity) => ({
  id,
  issuer,
  email,
  created_at,
});

/** The role in force: where admins need a second factor, one without it is a `user`. */
export const roleInForce = (user: StoredUser): Role =>
  config.secondFactor === 'admins' && !hasFactor(user) ? 'user' : user.role;

/** The key of a user item. */
export const userKey = (id: number) => ({ pk: `user#${id}` });
/** The key of the item that makes an address unique, in any spelling. */
export const emailItemKey = (email: string) => ({ pk: `email#${emailKey(email)}` });

/** Bytes: what DynamoDB allows a partition key. */
const maxKey = 2048;

/**
 * The key of the email item to look up. For text that cannot be a key it is that of '', which
 * nobody has.
 */
export const wantedEmailKey = (email: string) => {
  const key = emailItemKey(email);
  return email.isWellFormed() && Buffer.byteLength(key.pk) <= maxKey ? key : emailItemKey('');
};

/** The values of the partition keys of the two list indexes. */
export const listing = 'users';
export const adminListing = 'admins';

/** The field that says whether an address is verified, where EMAIL_VERIFICATION is not off. */
export const verifiedAs = (isVerified: boolean): Pick<User, 'email_verified'> =>
  config.emailVerification === 'off' ? {} : { email_verified: isVerified };

/** Seconds for which a mailed link is valid. */
export const linkLifetime = 30 * 60;

/** Whether another address of a user waits for its link. */
export const isWaiting = (
  { pending_email, pending_until = 0 }: Pick<StoredUser, 'pending_email' | 'pending_until'>,
  now = new Date(),
): boolean =>
  config.emailVerification !== 'off' && pending_email !== undefined && pending_until > seconds(now);

/** The same fields of a user who waits for no link. */
export const waitingForNone = {
  pending_email: undefined,
  pending_until: undefined,
  pending_id: undefined,
} as const;

/**
 * The fields by which a user item holds an address that waits for its link. If the same one waits
 * already, its link stays valid.
 */
export const waitingForLink = (user: StoredUser, email: string, now = new Date()) => ({
  pending_email: email,
  pending_until: seconds(now) + linkLifetime,
  pending_id:
    isWaiting(user, now) && user.pending_id !== undefined && user.pending_email === email
      ? user.pending_id
      : randomUUID(),
});

/** What an index has of a user. */
export type ListedUser = Omit<User, 'pending_email'> &
  Pick<StoredUser, 'pending_email' | 'pending_until'>;

/**
 * The fields of a user that responses show.
 * @param caller users themselves and admins also see the address that waits for its link, and admins
 *   whether the user is suspended
 */
export const toUser = (user: ListedUser, caller: Partial<Pick<User, 'id' | 'role'>> = {}): User => {
  const { id, name, email, role, created_at, email_verified, pending_email, suspended_at } = user;
  const isForAdmin = caller.role === 'admin';
  return {
    id,
    name,
    email,
    role,
    created_at,
    ...verifiedAs(email_verified === true),
    ...((isForAdmin || caller.id === id) && isWaiting(user) ? { pending_email } : {}),
    ...(isForAdmin && suspended_at ? { suspended_at } : {}),
  };
};

export interface ItemKey {
  readonly pk: string;
}

const storedKey = ({ pk }: ItemKey) => ({ pk: { S: pk } });

/**
 * Reads items as last written: at most 100, in one request unless DynamoDB leaves some out.
 * @param limits milliseconds for each request, where the default is too long
 * @returns the items in the order of their keys, undefined where there is none
 * @throws {DomainError} STORAGE_FAULT
 */
export const getItems = async (keys: readonly ItemKey[], limits: { timeout?: number } = {}) => {
  const stored = await readItems(config.usersTable, keys.map(storedKey), limits);
  const items = stored.map((item) => unmarshall(item));
  const byKey = new Map(items.map((item) => [item.pk as string, item]));
  return keys.map(({ pk }) => byKey.get(pk));
};

/** Reads one item as last written. @throws {DomainError} STORAGE_FAULT */
export const getItem = async <T = Readonly<Record<string, unknown>>>(
  key: ItemKey,
): Promise<T | undefined> => {
  const { Item } = await send(
    new GetItemCommand({
      TableName: config.usersTable,
      Key: storedKey(key),
      ConsistentRead: true,
    }),
  );
  return Item && (unmarshall(Item) as T);
};

/** The purpose of a mailed link: to set a password, or to verify an address. */
export type LinkKind = 'reset' | 'address';

/** The key of the item that holds a user's newest link of a kind. */
export const linkKey = (kind: LinkKind, id: number): ItemKey => ({ pk: `${kind}#${id}` });

/** The update that makes the link of a user void, for a transaction. */
export const voidLink = (kind: LinkKind, id: number, now = new Date()) => ({
  TableName: config.usersTable,
  Key: linkKey(kind, id),
  UpdateExpression:
    'SET expires_at = if_not_exists(expires_at, :end) REMOVE token_hash, token_expires_at, user_state',
  ExpressionAttributeValues: { ':end': seconds(now) + hour },
});
