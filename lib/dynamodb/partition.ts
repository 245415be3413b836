/** One partition of an index, which is read step by step in the order of its sort key. */
import { type AttributeValue, QueryCommand } from '@aws-sdk/client-dynamodb';
import { convertToNative } from '@aws-sdk/util-dynamodb';
import { send } from './client.ts';
import { type IndexDefinition, tables } from './tables.ts';

export type Entry = Readonly<Record<string, unknown>>;

/** The part of each partition that is read, and the form of its entries. */
export interface Reading {
  readonly table: string;
  readonly index: IndexDefinition;
  readonly order: 'oldest first' | 'newest first';
  /** The attributes of each entry, in their order. */
  readonly attributes: readonly string[];
  /** Converts an attribute; absent: as the document client does, and without absent attributes. */
  readonly shown?: (value: AttributeValue | undefined) => unknown;
  /** The range of sort keys: `from` is inclusive, `to` is exclusive; absent: no bound. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** Whether an entry is wanted; absent: all are. */
  readonly matches?: (entry: Entry) => boolean;
}

/** An item as DynamoDB returns it: the document client would also convert what nobody reads. */
type Item = Readonly<Record<string, AttributeValue>>;

/** How far a partition has been read: its last item, wanted or not. */
export interface Reached {
  /** The number of the partition. */
  readonly stream: number;
  /** The sort key, and a text for it that JavaScript orders as DynamoDB orders the key. */
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
 * A place in a list: after all entries with a sort key. Entries that the service wrote differ in
 * their keys. Where others have the same key, the place is after one of them in each partition that
 * `last` names, and before all of them in the others.
 */
export interface Place {
  readonly key: string;
  /** Keys of items, by the numbers of partitions. */
  readonly last?: Readonly<Record<number, AttributeValue>>;
}

/** One end of the range that is read. */
interface Bound {
  readonly key: string;
  /** Whether the key itself is left out, which requires that it ends in a digit. */
  readonly isOutside?: boolean;
}

/** A partition's entries as far as they have been read. */
export interface Stream {
  readonly number: number;
  readonly reading: Reading;
  readonly partition: string;
  /** Where the reading begins, unless it begins after an item. */
  readonly begin: Bound | undefined;
  readonly rows: Row[];
  /** Whether there may be more. */
  open: boolean;
  /** The item after which the reading goes on. */
  at: Reached | undefined;
}

/** DynamoDB orders text by its UTF-8 bytes; JavaScript has another order beyond ASCII. */
const rankOf = (key: string): string =>
  // esbuild would write /\P{ASCII}/u as a RegExp to compile for each key.
  /[\u0080-\uffff]/.test(key) ? Buffer.from(key).toString('latin1') : key;

/** A partition that will be read from a place on, or from its beginning. */
export const openStream = (
  reading: Reading,
  partition: string,
  number: number,
  { key, last }: Partial<Place> = {},
): Stream => {
  const part = { reading, number, partition };
  const stream = { ...part, rows: [], open: true, begin: undefined, at: undefined };
  const id = last?.[number];
  if (key === undefined) return stream;
  if (!id) return { ...stream, begin: { key, isOutside: last === undefined } };
  return { ...stream, at: { stream: number, key, rank: rankOf(key), id } };
};

/** A text that is greater than any that fits into the 1,024 bytes of a key. */
const highest = '\u{10ffff}'.repeat(240);

/** The greatest text that is less than a key. */
const below = (key: string): string =>
  key.slice(0, -1) + String.fromCharCode(key.charCodeAt(key.length - 1) - 1) + highest;

/** The least text that is greater than a key. */
const above = (key: string): string => `${key}\0`;

/** The condition for the sort key. DynamoDB takes only one, and BETWEEN includes both ends. */
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

const rangeOf = ({ begin, reading }: Stream) => {
  const [from, to] = [boundAt(reading.from), boundAt(reading.to)];
  return isForward(reading) ? conditionOf(begin ?? from, to) : conditionOf(from, begin ?? to);
};

/** The names of the two keys of an index, and of the key of the table. */
const keysOf = (index: IndexDefinition): readonly [string, string, string] => {
  const table = tables.find(({ indexes }) => indexes.includes(index));
  if (!table) throw new Error(`${index.name} is an index of no table`);
  return [index.partitionKey.name, index.sortKey.name, table.partitionKey.name];
};

const query = (stream: Stream, count: number) => {
  const { partition, at, reading } = stream;
  const [partitionKey, sortKey, itemKey] = keysOf(reading.index);
  const { text, values } = rangeOf(stream);
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
 * Reads the next entries of a partition.
 * @returns how many entries were read, wanted or not, and whether the response was full
 * @throws {DomainError} STORAGE_FAULT
 */
export const readOn = async (
  stream: Stream,
  count: number,
): Promise<{ read: number; isFull: boolean }> => {
  const { reading } = stream;
  const { to, matches = () => true } = reading;
  const [, sortKey, itemKey] = keysOf(reading.index);
  const reachedBy = (item: Item): Reached => {
    const key = item[sortKey]?.S ?? '';
    return { stream: stream.number, key, rank: rankOf(key), id: item[itemKey] };
  };
  const { Items = [], LastEvaluatedKey } = await query(stream, count);
  for (const item of Items) {
    const row = { ...reachedBy(item), entry: convert(item, reading) };
    if (row.key !== to && matches(row.entry)) stream.rows.push(row);
  }
  stream.open = LastEvaluatedKey !== undefined;
  if (LastEvaluatedKey) stream.at = reachedBy(LastEvaluatedKey);
  return { read: Items.length, isFull: stream.open && Items.length < count };
};
