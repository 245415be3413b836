import {
  PutItemCommand,
  QueryCommand,
  ScanCommand,
  type ScanCommandInput,
  type ScanCommandOutput,
} from '@aws-sdk/client-dynamodb';
import { postedShards, shards } from '../audit/index-keys.ts';
import { readItems, send, sendIf } from '../dynamodb/client.ts';
import { auditIndexes } from '../dynamodb/tables.ts';
import { faultName } from '../ground/errors.ts';
import { config } from '../ground/settings.ts';
import { type Item, keyOf, lineOf } from './line.ts';
import { attributesOf, nativeItem } from './stored-item.ts';

/** The audit table, as the sealer and the verification read it. */
export interface EntrySource {
  /**
   * Entries in the order of the index by time. The newest may still be missing in the index.
   * @param from the least key or time, inclusive; '': the beginning
   * @param until a time, exclusive
   */
  between(from: string, until: string): AsyncIterable<Item>;
  /** All entries, in no order, from the table and not from an index. */
  all(): AsyncIterable<Item>;
  /** The entries with given ids that exist, in no order. @param ids numbers as text */
  byIds(ids: readonly string[]): Promise<readonly Item[]>;
}

/** The most items of a request, and the most requests until DynamoDB has returned all of them. */
const batchSize = 100;
const maxRequests = 20;

/** The audit table of the configuration. Its methods throw DomainError STORAGE_FAULT. */
export const auditEntries: EntrySource = {
  between: (from, until) =>
    merge([...shards, ...postedShards].map((shard) => readShard(shard, from, until))),
  all: scanAll,
  byIds: async (ids) => {
    const keys = [...new Set(ids)].map((id) => ({ id: { N: id } }));
    const found: Item[] = [];
    for (let at = 0; at < keys.length; at += batchSize) {
      const batch = keys.slice(at, at + batchSize);
      const items = await readItems(config.auditTable, batch, { attempts: maxRequests });
      found.push(...items.map(nativeItem));
    }
    return found;
  },
};

/**
 * Writes an entry into the audit table as it was sealed, unless the table has an entry with its id.
 * @returns whether it was written
 * @throws {SyntaxError} if the table cannot hold it; {DomainError} STORAGE_FAULT
 */
export async function putBack(item: Item): Promise<boolean> {
  const stored = attributesOf(item);
  if (lineOf(nativeItem(stored)) !== lineOf(item)) throw new SyntaxError('No item has this line');
  const command = new PutItemCommand({
    TableName: config.auditTable,
    Item: stored,
    ConditionExpression: 'attribute_not_exists(id)',
  });
  try {
    return await sendIf(command);
  } catch (error) {
    if (!/^(Validation|Serialization)Exception$/.test(faultName(error))) throw error;
    throw new SyntaxError('DynamoDB refuses an item with this line', { cause: error });
  }
}

async function* merge(sequences: readonly AsyncGenerator<Item>[]): AsyncGenerator<Item> {
  const heads = await Promise.all(
    sequences.map(async (sequence) => ({ sequence, item: (await sequence.next()).value })),
  );
  for (;;) {
    const open = heads.filter(({ item }) => item !== undefined);
    if (open.length === 0) return;
    const first = open.reduce((a, b) => (keyOf(b.item) < keyOf(a.item) ? b : a));
    yield first.item;
    first.item = (await first.sequence.next()).value;
  }
}

/** The items of a page, which are few because the pages of all shards are in memory at once. */
const pageSize = 500;

function readShard(shard: string, from: string, until: string): AsyncGenerator<Item> {
  const query = {
    TableName: config.auditTable,
    IndexName: auditIndexes.byCreatedAt.name,
    // BETWEEN includes its end, but no key equals it: each key is longer than the time with which it begins.
    KeyConditionExpression: '#p = :p AND #s BETWEEN :from AND :until',
    ExpressionAttributeNames: {
      '#p': auditIndexes.byCreatedAt.partitionKey.name,
      '#s': auditIndexes.byCreatedAt.sortKey.name,
    },
    ExpressionAttributeValues: {
      ':p': { S: shard },
      // A key must have at least one character.
      ':from': { S: from || '\u0000' },
      ':until': { S: until },
    },
    Limit: pageSize,
  };
  return itemsOf((start) => send(new QueryCommand({ ...query, ...start })));
}

type Page = Pick<ScanCommandOutput, 'Items' | 'LastEvaluatedKey'>;
type Start = Pick<ScanCommandInput, 'ExclusiveStartKey'>;

async function* itemsOf(read: (start: Start) => Promise<Page>): AsyncGenerator<Item> {
  let ExclusiveStartKey: Start['ExclusiveStartKey'];
  do {
    const { Items = [], LastEvaluatedKey } = await read({ ExclusiveStartKey });
    for (const item of Items) yield nativeItem(item);
    ExclusiveStartKey = LastEvaluatedKey;
  } while (ExclusiveStartKey);
}

function scanAll(): AsyncGenerator<Item> {
  const scan = { TableName: config.auditTable, ConsistentRead: true, Limit: pageSize };
  return itemsOf((start) => send(new ScanCommand({ ...scan, ...start })));
}
