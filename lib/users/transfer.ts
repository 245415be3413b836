/** What moving many users in or out of the service needs of their table. */
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { config } from '../config.ts';
import { send } from '../dynamodb/client.ts';
import { emailItemKey, getItems, type StoredUser, toUser, userKey } from './items.ts';

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
 * The password hashes of the holders of email addresses, in the order of the addresses; undefined
 * where nobody holds one.
 * @param emails at most 100, no two of them the same in another letter case
 * @throws {DomainError} STORAGE_FAULT
 */
export const findHashes = async (
  emails: readonly string[],
): Promise<readonly (string | undefined)[]> => {
  const holders = await getItems(emails.map(emailItemKey));
  const held = holders.filter((item) => item !== undefined);
  if (held.length === 0) return emails.map(() => undefined);
  const users = await getItems(held.map(({ user_id }) => userKey(Number(user_id))));
  const hashes = new Map(users.map((user) => [user?.id, user?.password_hash]));
  return holders.map((item) => item && (hashes.get(item.user_id) as string | undefined));
};
