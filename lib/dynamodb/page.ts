import { type AttributeValue, QueryCommand } from '@aws-sdk/client-dynamodb';
import { convertToNative } from '@aws-sdk/util-dynamodb';
import { send } from './client.ts';
import type { IndexDefinition } from './tables.ts';

type Entry = Readonly<Record<string, unknown>>;

export interface PageRequest {
  readonly table: string;
  readonly index: IndexDefinition;
  /** The values of the partition key over which the wanted entries are spread. */
  readonly partitions: readonly string[];
  readonly order: 'oldest first' | 'newest first';
  /** Entries; absent: no bound. */
  readonly limit?: number | undefined;
  /** The attributes that entries are wanted with, in the order in which they get them. */
  readonly attributes: readonly string[];
  /** The sort key after which to begin, exclusive; absent: from the beginning. */
  readonly after?: string | undefined;
  /** Sort keys, both inclusive, between which entries are; absent: no bound. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** Whether an entry is wanted; absent: all are. */
  readonly matches?: (entry: Entry) => boolean;
  /** Entries to read at most, wanted or not, at least one for each partition. Absent: no bound. */
  readonly mostRead?: number;
  /** Requests for each partition at most; absent: no bound. */
  readonly mostRequests?: number;
}

export interface Page {
  /** As many as asked for, if there are; fewer, even none, where another bound ended the reading. */
  readonly entries: readonly Entry[];
  /** The sort key to go on after; absent when nothing remains. */
  readonly next?: string;
}

/** An item as DynamoDB answers it: the document client would convert what nobody reads, too. */
type Item = Readonly<Record<string, AttributeValue>>;

/** A wanted entry, and its sort key. */
interface Row {
  readonly key: string;
  readonly entry: Entry;
}

/** One partition's entries as far as they have been read. */
interface Stream {
  readonly partition: string;
  readonly rows: Row[];
  /** Whether there may be more. */
  open: boolean;
  /** The sort key up to which it has been read. */
  at: string | undefined;
}

/** Before and after every sort key, which is a time and an id. */
const [lowest, highest] = [' ', '~'];

/** The greatest text that is below a sort key and not below the one before: keys end in a digit. */
const below = (key: string): string =>
  key.slice(0, -1) + String.fromCharCode(key.charCodeAt(key.length - 1) - 1);

/** A text that is above a sort key and not above the one after: keys are of one length. */
const above = (key: string): string => `${key} `;

const isForward = ({ order }: PageRequest) => order === 'oldest first';

/** What a stream still has to read, from and to inclusive. */
const rangeOf = ({ at }: Stream, request: PageRequest): readonly [string, string] => {
  const { from = lowest, to = highest } = request;
  if (at === undefined) return [from, to];
  return isForward(request) ? [above(at), to] : [from, below(at)];
};

const convert = (item: Item, attributes: readonly string[]): Entry => {
  const entry: Record<string, unknown> = {};
  for (const name of attributes) {
    const value = item[name];
    if (value) entry[name] = convertToNative(value);
  }
  return entry;
};

/** Reads on in one stream. @returns how many entries, wanted or not */
const readOn = async (stream: Stream, count: number, request: PageRequest): Promise<number> => {
  const { table, index, attributes, matches = () => true } = request;
  const [from, to] = rangeOf(stream, request);
  const { Items = [], LastEvaluatedKey } = await send(
    new QueryCommand({
      TableName: table,
      IndexName: index.name,
      KeyConditionExpression: '#p = :p AND #s BETWEEN :from AND :to',
      ExpressionAttributeNames: { '#p': index.partitionKey.name, '#s': index.sortKey.name },
      ExpressionAttributeValues: {
        ':p': { S: stream.partition },
        ':from': { S: from },
        ':to': { S: to },
      },
      ScanIndexForward: isForward(request),
      ...(Number.isFinite(count) ? { Limit: count } : {}),
    }),
  );
  for (const item of Items) {
    const entry = convert(item, attributes);
    if (matches(entry)) stream.rows.push({ key: item[index.sortKey.name]?.S ?? '', entry });
  }
  stream.open = LastEvaluatedKey !== undefined;
  stream.at = LastEvaluatedKey?.[index.sortKey.name]?.S ?? stream.at;
  return Items.length;
};

/** Entries to read at a time, over the even share that each of several partitions will give. */
const margin = 4;

/**
 * Reads one page of an index. Several partitions are merged by sort key, each read only as far
 * as the page needs, so that the cost depends on the page's size and not on the index's.
 * @throws {DomainError} STORAGE_FAULT
 */
export const readPage = async (request: PageRequest): Promise<Page> => {
  const { partitions, after } = request;
  const { limit = Number.POSITIVE_INFINITY, mostRequests = Number.POSITIVE_INFINITY } = request;
  const precedes = (a = '', b = '') => (isForward(request) ? a < b : a > b);
  const compare = (a: string | undefined, b: string | undefined) => (precedes(a, b) ? -1 : 1);
  // One more than the page, to know whether anything remains.
  const wanted = limit + 1;
  let count = partitions.length === 1 ? wanted : Math.ceil(wanted / partitions.length) + margin;
  let left = request.mostRead ?? Number.POSITIVE_INFINITY;

  const streams: Stream[] = partitions.map((partition) => ({
    ...{ partition, rows: [], open: true },
    at: after,
  }));
  let merged: Row[] = [];
  let behind = streams;
  // Each round reads on, or closes, every stream that may still hold an entry of the page.
  for (
    let round = 0;
    behind.length > 0 && left >= behind.length && round < mostRequests;
    round += 1
  ) {
    const share = Math.min(count, Math.floor(left / behind.length));
    const read = await Promise.all(behind.map((stream) => readOn(stream, share, request)));
    left -= read.reduce((sum, entries) => sum + entries, 0);
    merged = streams
      .flatMap(({ rows }) => rows)
      .sort((a, b) => compare(a.key, b.key))
      .slice(0, wanted);
    const last = merged[limit];
    behind = streams.filter(({ open, at }) => open && (!last || precedes(at, last.key)));
    if (!last) count *= 2;
  }

  // What lies beyond the place up to which all streams have been read is left to the next page.
  const [end] = behind.map(({ at }) => at).sort(compare);
  if (end !== undefined) merged = merged.filter(({ key }) => !precedes(end, key));
  const page = merged.slice(0, limit);
  const next = end ?? (merged.length > limit ? page.at(-1)?.key : undefined);
  const entries = page.map(({ entry }) => entry);
  return next === undefined ? { entries } : { entries, next };
};
