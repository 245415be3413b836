/** What moving many users in or out of the service needs of their table. */
import { createHash } from 'node:crypto';
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { config } from '../config.ts';
import { send } from '../dynamodb/client.ts';
import { emailItemKey, getItems, type StoredUser, toUser, userKey } from './items.ts';
import { isUnmatchable } from './password.ts';

/** Items that one request reads, others than users among them. */
const scanLimit = 500;

/**
 * Every user with its password hash, in no order, in pages as they are read. A user who changes
 * meanwhile appears as before or as after.
 * @throws {DomainError} STORAGE_FAULT
 */
export async function* scanUsers(): AsyncGenerator<readonly StoredUser[]> {
  let from: Record<string, unknown> | undefined;
  do {
    const { Items = [], LastEvaluatedKey } = await send(
      new ScanCommand({
        TableName: config.usersTable,
        FilterExpression: 'begins_with(pk, :user)',
        ExpressionAttributeValues: { ':user': 'user#' },
        ConsistentRead: true,
        Limit: scanLimit,
        ExclusiveStartKey: from,
      }),
    );
    yield Items.map((item) => ({ ...toUser(item), password_hash: item.password_hash as string }));
    from = LastEvaluatedKey;
  } while (from);
}

/**
 * What tells that a hash was brought in by an import after a login or a change of the password has
 * replaced it. It is a digest of all of the hash, the salt included, so that no password can be
 * tried on it. Who came without a hash has the same one at any cost.
 */
export const importMark = (hash: string): string =>
  createHash('sha256')
    .update(isUnmatchable(hash) ? '' : hash)
    .digest('base64url');

/** Who holds an email address, as far as an import needs to know. */
export type Holder = Pick<StoredUser, 'id' | 'password_hash' | 'import_mark'>;

/**
 * The holders of email addresses, in the order of the addresses; undefined where nobody holds one.
 * @param emails at most 100, no two of them the same in another letter case
 * @throws {DomainError} STORAGE_FAULT
 */
export const findHolders = async (
  emails: readonly string[],
): Promise<readonly (Holder | undefined)[]> => {
  const emailItems = await getItems(emails.map(emailItemKey));
  const held = emailItems.filter((item) => item !== undefined);
  const users = await getItems(held.map(({ user_id }) => userKey(Number(user_id))));
  const byId = new Map(users.map((user) => [user?.id, user as Holder | undefined]));
  return emailItems.map((item) => item && byId.get(item.user_id));
};
