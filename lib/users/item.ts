/** The items of the users table that belong to users, and how they are read. */
import { randomBytes } from 'node:crypto';
import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { UpdateCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { readItems, type Step, send, sendIf } from '../dynamodb/client.ts';
import { itemKey } from '../dynamodb/tables.ts';
import type { ErrorCode } from '../ground/errors.ts';
import { config } from '../ground/settings.ts';
import { emailKey } from './address.ts';
import type { User } from './user.ts';

export interface IdentityName {
  readonly issuer: string;
  readonly subject: string;
}

export interface StoredIdentity extends IdentityName {
  readonly id: string;
  /** The address that the issuer has verified; null if the issuer stated none. */
  readonly email: string | null;
  readonly created_at: string;
}

/** A passkey as it is stored in its user's item; its public key has an item of its own. */
export interface StoredPasskey {
  readonly id: string;
  /** The id that the authenticator has given to the passkey, in base64url. */
  readonly credential_id: string;
  readonly name: string;
  readonly created_at: string;
  /** The domain for which it was made; absent: version 1.0.0 stored the passkey, and it has not been used since. */
  readonly rp_id?: string;
}

/** A user as stored: the fields that responses show, and fields that no response shows. */
export type StoredUser = User & {
  readonly version: string;
  readonly password_hash: string;
  /** Only imported users have it: `importMark` of the hash in the imported file. */
  readonly import_mark?: string;
  /** How often all sessions of the user were ended; see lib/options/sessions/sessions.ts. Absent: never. */
  readonly session_epoch?: number | undefined;
  /** The session that was kept when all other sessions were last ended. */
  readonly kept_session?: string | undefined;
  /**
   * Id of the caller who created the user by POST /api/users; removed when somebody else gives the user a password or
   * another address, and when the user becomes an admin or gets a second factor, an identity or a passkey.
   */
  readonly made_by?: number | undefined;
  /** How often the user was suspended since 1.1.0: each suspension voids the links that were mailed before. */
  readonly suspensions?: number | undefined;
  /** The secret of the user's second factor, encrypted; absent: there is none. */
  readonly factor_secret?: string | undefined;
  readonly factor_step?: number | undefined;
  /** Hashes of the recovery codes that were not used. */
  readonly recovery_codes?: ReadonlySet<string> | undefined;
  /** A second factor that no code has confirmed, and when it becomes void (seconds since 1970). */
  readonly enrolment?: { readonly secret: string; readonly until: number } | undefined;
  readonly identities?: readonly StoredIdentity[] | undefined;
  readonly passkeys?: readonly StoredPasskey[] | undefined;
  /** The random name under which authenticators keep the user's passkeys, in base64url; absent: none yet. */
  readonly passkey_handle?: string | undefined;
  /** The attributes that the app has declared, as JSON (lib/options/attributes/attributes.ts); absent: none. */
  readonly attributes?: string | undefined;
  /** When `pending_email` becomes void, in seconds since 1970. */
  readonly pending_until?: number | undefined;
  /** A new id whenever another address is requested: links for earlier requests are void. */
  readonly pending_id?: string | undefined;
};

/** The fields that a change sets in a user's item; it removes fields that are undefined. */
export type UserFields = Partial<Omit<StoredUser, 'id' | 'created_at' | 'version'>>;

/** A way into an account, as entries and notices name it. */
export type Way = 'identities' | 'passkeys';

/** The part of a change of a user that one rule contributes. */
export interface Change {
  readonly fields?: UserFields;
  readonly ways?: readonly Way[];
  readonly steps?: readonly Step[];
}

export function merged(...changes: readonly Change[]): Required<Change> {
  return {
    fields: Object.assign({}, ...changes.map(({ fields }) => fields)),
    steps: changes.flatMap(({ steps = [] }) => steps),
    ways: changes.flatMap(({ ways = [] }) => ways),
  };
}

export const listing = 'users';
export const adminListing = 'admins';

export type ListedUser = Omit<User, 'pending_email'> &
  Pick<StoredUser, 'pending_email' | 'pending_until'>;

export interface ItemKey {
  readonly pk: string;
}

/** A version that no other write has given to an item of a user. */
export function newVersion(): string {
  return randomBytes(12).toString('base64url');
}

export function userKey(id: number) {
  return itemKey('user#*', id);
}

/** The most bytes that DynamoDB allows for a partition key. */
const maxKey = 2048;

/** If a text cannot be a key, this is the key of the empty address, which no user has. */
export function wantedEmailKey(email: string) {
  const key = emailItemKey(email);
  return email.isWellFormed() && Buffer.byteLength(key.pk) <= maxKey ? key : emailItemKey('');
}

/** The key of the item that makes an address unique, in any spelling. */
export function emailItemKey(email: string) {
  return itemKey('email#*', emailKey(email));
}

/**
 * Reads at most 100 items as last written, in one request unless DynamoDB leaves some items out.
 * @param limits the milliseconds for each request, if the default is too long
 * @returns the items in the order of their keys, undefined where there is none
 */
export async function getItems<T = ReturnType<typeof unmarshall>>(
  keys: readonly ItemKey[],
  limits: { timeout?: number } = {},
): Promise<readonly (T | undefined)[]> {
  const stored = await readItems(config.usersTable, keys.map(storedKey), limits);
  const items = stored.map((item) => unmarshall(item));
  const byKey = new Map(items.map((item) => [item.pk as string, item]));
  return keys.map(({ pk }) => byKey.get(pk) as T | undefined);
}

/** Reads one item as last written, as {@link getItems} does. */
export async function getItem<T = Readonly<Record<string, unknown>>>(
  key: ItemKey,
  limits: { timeout?: number } = {},
): Promise<T | undefined> {
  const { Item } = await send(
    new GetItemCommand({
      TableName: config.usersTable,
      Key: storedKey(key),
      ConsistentRead: true,
    }),
    limits,
  );
  return Item && (unmarshall(Item) as T);
}

/** Updates an item on a condition. @returns false when the condition does not hold */
export function updateIf(
  Key: ItemKey,
  update: Omit<UpdateCommandInput, 'TableName' | 'Key'>,
  limits: { timeout?: number } = {},
): Promise<boolean> {
  return sendIf(new UpdateCommand({ TableName: config.usersTable, Key, ...update }), limits);
}

/** Stores an item that belongs to only one user. @param error thrown when it belongs to a user already */
export function claiming(Item: ItemKey & { readonly user_id: number }, error: ErrorCode): Step {
  const condition = 'attribute_not_exists(pk)';
  return [{ Put: { TableName: config.usersTable, Item, ConditionExpression: condition } }, error];
}

/** The step that deletes an item that {@link claiming} has stored for a user. */
export function releasing(Key: ItemKey, userId: number): Step {
  return [
    {
      Delete: {
        TableName: config.usersTable,
        Key,
        ConditionExpression: 'user_id = :id',
        ExpressionAttributeValues: { ':id': userId },
      },
    },
  ];
}

function storedKey({ pk }: ItemKey) {
  return { pk: { S: pk } };
}
