/** The items of the users table that belong to users, and how they are read. */
import { randomUUID } from 'node:crypto';
import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { readItems, send } from '../dynamodb/client.ts';
import { config } from '../settings.ts';
import { clockSkew, hour, seconds } from '../time.ts';
import { emailKey, type Role, type User } from './user.ts';

/** A user as stored: the fields that responses show, and those that no response shows. */
export type StoredUser = User & {
  readonly password_hash: string;
  /** For an imported user: `importMark` of the hash in the imported file. */
  readonly import_mark?: string;
  /** How often all sessions of the user were ended; see lib/users/sessions.ts. Absent: never. */
  readonly session_epoch?: number | undefined;
  /** The session spared when all others last ended. */
  readonly kept_session?: string | undefined;
  /**
   * Id of the caller who created the user by POST /api/users; removed when anybody else gives the
   * user a password or another address, and when the user becomes an admin or gets a second factor.
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
  /** When `pending_email` is void, in seconds since 1970. */
  readonly pending_until?: number | undefined;
  /** A new id whenever another address is asked for: links for earlier requests are void. */
  readonly pending_id?: string | undefined;
};

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

/** The role in force: where admins need a second factor, one without it is a `user`. */
export const roleInForce = (user: StoredUser): Role =>
  config.secondFactor === 'admins' && !hasFactor(user) ? 'user' : user.role;

/** The key of a user item. */
export const userKey = (id: number) => ({ pk: `user#${id}` });
/** The key of the item that makes an address unique, in any letter case. */
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
export const verification = (isVerified: boolean): Pick<User, 'email_verified'> =>
  config.emailVerification === 'off' ? {} : { email_verified: isVerified };

const shownAlways = ({ id, name, email, role, created_at }: Readonly<Record<string, unknown>>) =>
  ({ id, name, email, role, created_at }) as User;

/** The fields of an item that responses show. */
export const toUser = (item: Readonly<Record<string, unknown>>): User => ({
  ...shownAlways(item),
  ...verification(item.email_verified === true),
});

/** Seconds for which a mailed link is valid. */
export const linkLifetime = 30 * 60;

type PendingFields = Pick<StoredUser, 'pending_email' | 'pending_until'>;

/** Whether an address waits for its link. One that waits longer is from before the clock was set back. */
export const isWaiting = (
  { pending_email, pending_until = 0 }: PendingFields,
  now = new Date(),
): boolean =>
  config.emailVerification !== 'off' &&
  pending_email !== undefined &&
  pending_until > seconds(now) &&
  pending_until <= seconds(now) + linkLifetime + clockSkew;

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

/**
 * The same for a caller: users themselves and admins also see the address that waits for its link.
 * @param item of the user who is shown
 */
export const toUserFor =
  (caller: Pick<User, 'id' | 'role'>, now = new Date()) =>
  (item: Readonly<Record<string, unknown>>): User => {
    const pending: PendingFields = item;
    const isShown = (caller.role === 'admin' || caller.id === item.id) && isWaiting(pending, now);
    return { ...toUser(item), ...(isShown ? { pending_email: pending.pending_email } : {}) };
  };

/** A user as stored, from an item. */
export const toStoredUser = (item: Readonly<Record<string, unknown>>): StoredUser => ({
  ...shownAlways(item),
  email_verified: item.email_verified as boolean | undefined,
  password_hash: item.password_hash as string,
  session_epoch: item.session_epoch as number | undefined,
  kept_session: item.kept_session as string | undefined,
  made_by: item.made_by as number | undefined,
  factor_secret: item.factor_secret as string | undefined,
  factor_step: item.factor_step as number | undefined,
  recovery_codes: item.recovery_codes as ReadonlySet<string> | undefined,
  enrolment: item.enrolment as StoredUser['enrolment'],
  pending_email: item.pending_email as string | undefined,
  pending_until: item.pending_until as number | undefined,
  pending_id: item.pending_id as string | undefined,
});

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
export const getItem = async (key: ItemKey) => {
  const { Item } = await send(
    new GetItemCommand({
      TableName: config.usersTable,
      Key: storedKey(key),
      ConsistentRead: true,
    }),
  );
  return Item && unmarshall(Item);
};

/** The purpose of a mailed link: to set a password, or to verify an address. */
export type LinkKind = 'reset' | 'verification';

/** The key of the item that holds a user's newest link of a kind. */
export const linkKey = (kind: LinkKind, id: number): ItemKey => ({ pk: `${kind}#${id}` });

/** The update that makes the link of a user void, for a transaction. */
export const voidLink = (
  kind: LinkKind,
  id: number,
  { now = new Date() }: { now?: Date } = {},
) => ({
  TableName: config.usersTable,
  Key: linkKey(kind, id),
  UpdateExpression:
    'SET expires_at = if_not_exists(expires_at, :end) REMOVE token_hash, token_expires_at, user_state',
  ExpressionAttributeValues: { ':end': seconds(now) + hour },
});
