import {
  type AttributeValue,
  QueryCommand,
  type QueryCommandInput,
  ScanCommand,
} from '@aws-sdk/client-dynamodb';
import { shards } from '../audit/store.ts';
import { readItems, type StoredItem, send } from '../dynamodb/client.ts';
import { auditTable } from '../dynamodb/tables.ts';
import { config } from '../settings.ts';
import type { Item } from './line.ts';

/** What the seal reads of the audit table. */
export interface EntrySource {
  /**
   * Entries by their time, oldest first, as the index shows them: what was just written may be
   * missing.
   * @param from created_at, inclusive
   * @param until exclusive
   */
  between(from: string, until: string): AsyncIterable<Item>;
  /** All entries, in no order, whatever indexes show. */
  all(): AsyncIterable<Item>;
  /** Those that are there, in no order. @param ids numbers as text */
  byIds(ids: readonly string[]): Promise<readonly Item[]>;
}

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

/** A value in DynamoDB's own form: members of sets in order, bytes as base64. */
const storedForm = (value: AttributeValue | undefined): unknown => {
  if (value === undefined) return null;
  if (value.B) return { B: base64(value.B) };
  if (value.BS) return { BS: value.BS.map(base64).sort() };
  if (value.SS) return { SS: value.SS.toSorted() };
  if (value.NS) return { NS: value.NS.toSorted() };
  if (value.L) return { L: value.L.map(storedForm) };
  if (!value.M) return value;
  const members = Object.entries(value.M).map(([name, member]) => [name, storedForm(member)]);
  return { M: Object.fromEntries(members) };
};

/**
 * Text, null and exact integers as they are; whatever no entry has, as DynamoDB writes it. The SDK
 * loses the value of an attribute `__proto__`: its name alone is told, with null.
 */
const nativeValue = (value: AttributeValue | undefined): unknown => {
  if (value === undefined) return null;
  if (value.S !== undefined) return value.S;
  if (value.NULL) return null;
  const number = Number(value.N);
  return Number.isSafeInteger(number) && String(number) === value.N ? number : storedForm(value);
};

const nativeItem = (item: StoredItem): Item =>
  Object.fromEntries(Object.entries(item).map(([name, value]) => [name, nativeValue(value)]));

const [byCreatedAt] = auditTable.indexes;
const sortKey = byCreatedAt.sortKey.name;

/** Items of a page: the pages of all shards are in memory at once. */
const pageSize = 500;

/** Tells no progress from progress: far more pages than the largest table has. */
const maxPages = 10_000_000;

async function* readShard(shard: string, from: string, until: string): AsyncGenerator<Item> {
  let ExclusiveStartKey: QueryCommandInput['ExclusiveStartKey'];
  for (let page = 0; page < maxPages; page += 1) {
    const query = new QueryCommand({
      TableName: config.auditTable,
      IndexName: byCreatedAt.name,
      // A key is longer than the time that it begins with, so that none equals the end.
      KeyConditionExpression: '#p = :p AND #s BETWEEN :from AND :until',
      ExpressionAttributeNames: { '#p': byCreatedAt.partitionKey.name, '#s': sortKey },
      ExpressionAttributeValues: {
        ':p': { S: shard },
        ':from': { S: from },
        ':until': { S: until },
      },
      ExclusiveStartKey,
      Limit: pageSize,
    });
    const { Items = [], LastEvaluatedKey } = await send(query);
    for (const item of Items) yield nativeItem(item);
    if (!LastEvaluatedKey) return;
    ExclusiveStartKey = LastEvaluatedKey;
  }
}

const keyOf = (item: Item): string => String(item[sortKey]);

/** One order of several sequences that are in order themselves. */
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

async function* scanAll(): AsyncGenerator<Item> {
  let ExclusiveStartKey: QueryCommandInput['ExclusiveStartKey'];
  for (let page = 0; page < maxPages; page += 1) {
    const { Items = [], LastEvaluatedKey } = await send(
      new ScanCommand({
        ...{ TableName: config.auditTable, ConsistentRead: true, Limit: pageSize },
        ExclusiveStartKey,
      }),
    );
    for (const item of Items) yield nativeItem(item);
    if (!LastEvaluatedKey) return;
    ExclusiveStartKey = LastEvaluatedKey;
  }
}

/** Items that one request may ask for; requests for what DynamoDB has left out of a response. */
const batchSize = 100;
const maxRequests = 20;

/** The audit table of the configuration. Its methods throw DomainError STORAGE_FAULT. */
export const auditEntries: EntrySource = {
  between: (from, until) => merge(shards.map((shard) => readShard(shard, from, until))),
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
