import {
  type AttributeValue,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
  type ScanCommandInput,
  type ScanCommandOutput,
} from '@aws-sdk/client-dynamodb';
import { postedShards, shards } from '../audit/index-keys.ts';
import { readItems, type StoredItem, send, sendIf } from '../dynamodb/client.ts';
import { auditIndexes } from '../dynamodb/tables.ts';
import { faultName } from '../ground/errors.ts';
import { config } from '../ground/settings.ts';
import { type Item, keyOf, lineOf } from './line.ts';

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

/** An entry in DynamoDB's own form. @throws {SyntaxError} if no item can have these attributes */
export function attributesOf(item: Item): StoredItem {
  return Object.fromEntries(
    Object.entries(item).map(([name, value]) => [name, attributeOf(value)]),
  );
}

/** Merges several ordered sequences. */
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

/** Reads all pages. @param read reads one page */
async function* itemsOf(read: (start: Start) => Promise<Page>): AsyncGenerator<Item> {
  let ExclusiveStartKey: Start['ExclusiveStartKey'];
  do {
    const { Items = [], LastEvaluatedKey } = await read({ ExclusiveStartKey });
    for (const item of Items) yield nativeItem(item);
    ExclusiveStartKey = LastEvaluatedKey;
  } while (ExclusiveStartKey);
}

function nativeItem(item: StoredItem): Item {
  return Object.fromEntries(
    Object.entries(item).map(([name, value]) => [name, nativeValue(value)]),
  );
}

/**
 * Text, null and exact integers are unchanged; other values, which no service writes, get DynamoDB's own form. The
 * SDK loses the value of an attribute `__proto__`, which becomes null.
 */
function nativeValue(value: AttributeValue | undefined): unknown {
  if (value === undefined) return null;
  if (value.S !== undefined) return value.S;
  if (value.NULL) return null;
  const number = Number(value.N);
  return Number.isSafeInteger(number) && String(number) === value.N ? number : storedForm(value);
}

/** A value in DynamoDB's own form: members of sets are sorted, bytes are base64. */
function storedForm(value: AttributeValue | undefined): unknown {
  if (value === undefined) return null;
  if (value.B) return { B: base64(value.B) };
  if (value.BS) return { BS: value.BS.map(base64).sort() };
  if (value.SS) return { SS: value.SS.toSorted() };
  if (value.NS) return { NS: value.NS.toSorted() };
  if (value.L) return { L: value.L.map(storedForm) };
  if (!value.M) return value;
  const members = Object.entries(value.M).map(([name, member]) => [name, storedForm(member)]);
  return { M: Object.fromEntries(members) };
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

function scanAll(): AsyncGenerator<Item> {
  const scan = { TableName: config.auditTable, ConsistentRead: true, Limit: pageSize };
  return itemsOf((start) => send(new ScanCommand({ ...scan, ...start })));
}

interface StoredForm {
  readonly B?: string;
  readonly BS?: readonly string[];
  readonly L?: readonly StoredForm[];
  readonly M?: Readonly<Record<string, StoredForm>>;
}

/** The attribute value that {@link nativeValue} converts into a given value. */
function attributeOf(value: unknown): AttributeValue {
  if (typeof value === 'string') return { S: value };
  if (typeof value === 'number') return { N: String(value) };
  return value === null ? { NULL: true } : ofStoredForm(value as StoredForm);
}

/** The types of attributes that DynamoDB has. */
const attributeTypes = ['S', 'N', 'B', 'SS', 'NS', 'BS', 'M', 'L', 'NULL', 'BOOL'];

/** @throws {SyntaxError} if no attribute can have this value, which engines refuse in different ways */
function ofStoredForm(value: StoredForm): AttributeValue {
  const [type = '', ...others] = Object.keys(Object(value));
  if (others.length > 0 || !attributeTypes.includes(type)) {
    throw new SyntaxError('No attribute has this value');
  }
  const bytes = (text: string) => Buffer.from(text, 'base64');
  if (value.B !== undefined) return { B: bytes(value.B) };
  if (value.BS) return { BS: value.BS.map(bytes) };
  if (value.L) return { L: value.L.map(ofStoredForm) };
  if (!value.M) return value as AttributeValue;
  const members = Object.entries(value.M).map(([name, member]) => [name, ofStoredForm(member)]);
  return { M: Object.fromEntries(members) };
}
