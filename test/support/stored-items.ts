/** Reads the tables directly, without the service. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import type { AuditEntry } from '../../lib/audit/entry.ts';
import { emailKey } from '../../lib/users/address.ts';

export type Item = Readonly<Record<string, unknown>>;

/** The account of the engines on this machine. */
const account = {
  region: 'us-east-1',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
};

export const engineClient = (endpoint: string): DynamoDBDocumentClient =>
  DynamoDBDocumentClient.from(new DynamoDBClient({ endpoint, ...account }));

/** The most pages of a scan, far more than any test fills. */
const maxPages = 1000;

export const scan = async (endpoint: string, TableName: string): Promise<readonly Item[]> => {
  const client = engineClient(endpoint);
  const items: Item[] = [];
  let ExclusiveStartKey: Item | undefined;
  for (let page = 0; page < maxPages; page += 1) {
    const read = new ScanCommand({ TableName, ExclusiveStartKey, ConsistentRead: true });
    const { Items = [], LastEvaluatedKey } = await client.send(read);
    items.push(...Items);
    if (!LastEvaluatedKey) return items;
    ExclusiveStartKey = LastEvaluatedKey;
  }
  throw new Error(`${TableName} has no end`);
};

export const scanAudit = async (endpoint: string, table: string): Promise<readonly AuditEntry[]> =>
  (await scan(endpoint, table)) as unknown as readonly AuditEntry[];

/** The entries of an audit table whose items have some values, in the order of their ids. */
export const entriesWith = async (
  endpoint: string,
  table: string,
  fields: Item,
): Promise<readonly AuditEntry[]> =>
  (await scanAudit(endpoint, table))
    .filter((item) => Object.entries(fields).every(([name, value]) => Object(item)[name] === value))
    .sort((a, b) => a.id - b.id);

/**
 * The items of a users table that break its rules: every user has exactly one email item, for its address; every email
 * item has its user; and the counter is greater than or equal to every id.
 */
export const brokenItems = (items: readonly Item[]): readonly Item[] => {
  const byKey = new Map(items.map((item) => [String(item.pk), item]));
  const isBroken = (item: Item): boolean => {
    const key = String(item.pk);
    if (key.startsWith('user#')) {
      const emailItem = byKey.get(`email#${emailKey(String(item.email))}`);
      const counted = Number(byKey.get('counter')?.last_id) >= Number(item.id);
      return !counted || key !== `user#${item.id}` || emailItem?.user_id !== item.id;
    }
    if (key.startsWith('email#')) {
      const user = byKey.get(`user#${item.user_id}`);
      return key !== `email#${emailKey(String(user?.email))}`;
    }
    return (
      !['audit-seal', 'audit-seal-check', 'audit-seal-whole', 'counter'].includes(key) &&
      !/^(address|attempts|audit-read|mails|reset|seen|sessions)#/.test(key)
    );
  };
  return items.filter(isBroken);
};

/** Moves the last use of each session of a user back by some milliseconds. */
export const ageSessions = async (
  endpoint: string,
  TableName: string,
  id: number,
  milliseconds: number,
): Promise<void> => {
  const client = engineClient(endpoint);
  const Key = { pk: `sessions#${id}` };
  const { Item } = await client.send(new GetCommand({ TableName, Key, ConsistentRead: true }));
  if (!Item) return;
  const aged = Object.entries(Item).map(([name, value]) => [
    name,
    value.used ? { ...value, used: value.used - milliseconds } : value,
  ]);
  await client.send(new PutCommand({ TableName, Item: Object.fromEntries(aged) }));
};

export const usersIn = (items: readonly Item[]): readonly Item[] =>
  items.filter(({ pk }) => String(pk).startsWith('user#'));
