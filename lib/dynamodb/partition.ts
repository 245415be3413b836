/** One partition of an index, read on and on in the order of its sort key. */
import { type AttributeValue, QueryCommand } from '@aws-sdk/client-dynamodb';
import { convertToNative } from '@aws-sdk/util-dynamodb';
import { send } from './client.ts';
import { type IndexDefinition, tables } from './tables.ts';

export type Entry = Readonly<Record<string, unknown>>;

/** What is read of each partition. */
export interface Reading {
  readonly table: string;
  readonly index: IndexDefinition;
  readonly order: 'oldest first' | 'newest first';
  /** The attributes that entries are wanted with, in the order in which they get them. */
  readonly attributes: readonly string[];
  /** What an entry has of an attribute; absent: what the document client makes of it, if it is there. */
  readonly shown?: (value: AttributeValue | undefined) => unknown;
  /** Sort keys between which entries are, the first inclusive, the second not; absent: no bound. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** Whether an entry is wanted; absent: all are. */
  readonly matches?: (entry: Entry) => boolean;
}

/** An item as DynamoDB answers it: the document client would convert what nobody reads, too. */
type Item = Readonly<Record<string, AttributeValue>>;

/** How far a partition has been read: its last item, wanted or not. */
export interface Reached {
  /** The number of the partition. */
  readonly stream: number;
  /** The sort key, and the same as text that orders as DynamoDB orders keys. */
  readonly key: string;
  readonly rank: string;
  /** The key of the item in its table. */
  readonly id: AttributeValue | undefined;
}

/** A wanted entry. */
export interface Row extends Reached {
  readonly entry: Entry;
}

/**
 * A place in a list: after all entries of a sort key. Where several have the same key, which none
 * has that the service wrote: after one of them in each of some partitions, and before all of them
 * in the others.
 */
export interface Place {
  readonly key: string;
  /** Keys of items, by the numbers of partitions. */
  readonly last?: Readonly<Record<number, AttributeValue>>;
}

/** One end of what is read. */
interface Bound {
  readonly key: string;
  /** Whether the key itself is left out. Only one that ends in a digit can be. */
  readonly isOutside?: boolean;
}

/** A partition's entries as far as they have been read. */
export interface Stream {
  readonly number: number;
  readonly partition: string;
  /** Where it begins, unless after an item. */
  readonly begin: Bound | undefined;
  readonly rows: Row[];
  /** Whether there may be more. */
  open: boolean;
  /** The item to go on after. */
  at: Reached | undefined;
}

/** DynamoDB orders text by its UTF-8, which JavaScript does not beyond ASCII. */
const rankOf = (key: string): string =>
  /\P{ASCII}/u.test(key) ? Buffer.from(key).toString('latin1') : key;

/** A partition that is read from a place on; absent: from its beginning. */
export const openStream = (
  partition: string,
  number: number,
  { key, last }: Partial<Place> = {},
): Stream => {
  const stream = { number, partition, rows: [], open: true, begin: undefined, at: undefined };
  const id = last?.[number];
  if (key === undefined) return stream;
  if (!id) return { ...stream, begin: { key, isOutside: last === undefined } };
  return { ...stream, at: { stream: number, key, rank: rankOf(key), id } };
};

/** Characters that no text of the 1,024 bytes of a key follows. */
const highest = '\u{10ffff}'.repeat(240);

/** The greatest text that is below a key. */
const below = (key: string): string =>
  key.slice(0, -1) + String.fromCharCode(key.charCodeAt(key.length - 1) - 1) + highest;

/** The least text that is above it. */
const above = (key: string): string => `${key}\0`;

/** A condition for the sort key. DynamoDB takes one, and BETWEEN with both of its ends alone. */
const conditionOf = (lower: Bound | undefined, upper: Bound | undefined) => {
  if (lower && upper) {
    const from = lower.isOutside ? above(lower.key) : lower.key;
    const to = upper.isOutside ? below(upper.key) : upper.key;
    return { text: ' AND #s BETWEEN :a AND :b', values: { ':a': { S: from }, ':b': { S: to } } };
  }
  const bound = lower ?? upper;
  if (!bound) return { text: '', values: {} };
  const comparison = `${lower ? '>' : '<'}${bound.isOutside ? '' : '='}`;
  return { text: ` AND #s ${comparison} :a`, values: { ':a': { S: bound.key } } };
};

export const isForward = ({ order }: Reading): boolean => order === 'oldest first';

const boundAt = (key: string | undefined): Bound | undefined =>
  key === undefined ? undefined : { key };

const rangeOf = ({ begin }: Stream, reading: Reading) => {
  const [from, to] = [boundAt(reading.from), boundAt(reading.to)];
  return isForward(reading) ? conditionOf(begin ?? from, to) : conditionOf(from, begin ?? to);
};

/** The names of the keys of an index, and of its items in their table. */
const keysOf = (index: IndexDefinition): readonly [string, string, string] => {
  const table = tables.find(({ indexes }) => indexes.includes(index));
  if (!table) throw new Error(`${index.name} is an index of no table`);
  return [index.partitionKey.name, index.sortKey.name, table.partitionKey.name];
};

const query = (stream: Stream, reading: Reading, count: number) => {
  const { partition, at } = stream;
  const [partitionKey, sortKey, itemKey] = keysOf(reading.index);
  const { text, values } = rangeOf(stream, reading);
  const start = at?.id && {
    [partitionKey]: { S: partition },
    [sortKey]: { S: at.key },
    [itemKey]: at.id,
  };
  const command = new QueryCommand({
    TableName: reading.table,
    IndexName: reading.index.name,
    KeyConditionExpression: `#p = :p${text}`,
    ExpressionAttributeNames: { '#p': partitionKey, ...(text ? { '#s': sortKey } : {}) },
    ExpressionAttributeValues: { ':p': { S: partition }, ...values },
    ScanIndexForward: isForward(reading),
    ...(Number.isFinite(count) ? { Limit: count } : {}),
    ...(start ? { ExclusiveStartKey: start } : {}),
  });
  return send(command);
};

const nativeOf = (value: AttributeValue | undefined): unknown => value && convertToNative(value);

const convert = (item: Item, { attributes, shown = nativeOf }: Reading): Entry => {
  const entry: Record<string, unknown> = {};
  for (const name of attributes) {
    const value = shown(item[name]);
    if (value !== undefined) entry[name] = value;
  }
  return entry;
};

/**
 * Reads on.
 * @returns how many entries were read, wanted or not, and whether a response took no more
 * @throws {DomainError} STORAGE_FAULT
 */
export const readOn = async (
  stream: Stream,
  reading: Reading,
  count: number,
): Promise<{ read: number; isFull: boolean }> => {
  const { to, matches = () => true } = reading;
  const [, sortKey, itemKey] = keysOf(reading.index);
  const reachedBy = (item: Item): Reached => {
    const key = item[sortKey]?.S ?? '';
    return { stream: stream.number, key, rank: rankOf(key), id: item[itemKey] };
  };
  const { Items = [], LastEvaluatedKey } = await query(stream, reading, count);
  for (const item of Items) {
    const entry = convert(item, reading);
    const reached = reachedBy(item);
    if (reached.key !== to && matches(entry)) stream.rows.push({ ...reached, entry });
  }
  stream.open = LastEvaluatedKey !== undefined;
  if (LastEvaluatedKey) stream.at = reachedBy(LastEvaluatedKey);
  return { read: Items.length, isFull: stream.open && Items.length < count };
};
