import { type AttributeValue, QueryCommand } from '@aws-sdk/client-dynamodb';
import { convertToNative } from '@aws-sdk/util-dynamodb';
import { send } from './client.ts';
import type { IndexDefinition } from './tables.ts';

export interface PageRequest {
  readonly table: string;
  readonly index: IndexDefinition;
  /** The values of the partition key over which the wanted entries are spread. */
  readonly partitions: readonly string[];
  readonly order: 'oldest first' | 'newest first';
  /** Entries. */
  readonly limit: number;
  /** The attributes that entries are wanted with, in the order in which they get them. */
  readonly attributes: readonly string[];
  /** The sort key after which to begin, exclusive; absent: from the beginning. */
  readonly after?: string | undefined;
}

export interface Page {
  readonly entries: readonly Readonly<Record<string, unknown>>[];
  /** The sort key to go on after; absent when nothing remains. */
  readonly next?: string;
}

/** An item as DynamoDB answers it: the document client would convert what nobody reads, too. */
type Item = Readonly<Record<string, AttributeValue>>;

/** One partition's entries as far as they have been read. */
interface Stream {
  readonly partition: string;
  entries: Item[];
  /** Where to read on; absent at the end. */
  open: boolean;
  after: string | undefined;
}

const readOn = async (stream: Stream, count: number, request: PageRequest): Promise<void> => {
  const { table, index, order } = request;
  const beyond = order === 'oldest first' ? '>' : '<';
  const { Items = [], LastEvaluatedKey } = await send(
    new QueryCommand({
      TableName: table,
      IndexName: index.name,
      KeyConditionExpression: `#p = :p${stream.after ? ` AND #s ${beyond} :after` : ''}`,
      ExpressionAttributeNames: {
        '#p': index.partitionKey.name,
        ...(stream.after ? { '#s': index.sortKey.name } : {}),
      },
      ExpressionAttributeValues: {
        ':p': { S: stream.partition },
        ...(stream.after ? { ':after': { S: stream.after } } : {}),
      },
      ScanIndexForward: order === 'oldest first',
      Limit: count,
    }),
  );
  stream.entries.push(...Items);
  stream.open = LastEvaluatedKey !== undefined;
  stream.after = LastEvaluatedKey?.[index.sortKey.name]?.S ?? stream.after;
};

const convert = (item: Item, attributes: readonly string[]) => {
  const entry: Record<string, unknown> = {};
  for (const name of attributes) {
    const value = item[name];
    if (value) entry[name] = convertToNative(value);
  }
  return entry;
};

/** Entries to read at a time, over the even share that each of several partitions will give. */
const margin = 4;

/**
 * Reads one page of an index. Several partitions are merged by sort key, each read only as far
 * as the page needs, so that the cost depends on the page's size and not on the index's.
 * @throws {DomainError} STORAGE_FAULT
 */
export const readPage = async (request: PageRequest): Promise<Page> => {
  const { index, partitions, order, limit, attributes } = request;
  const sortKey = (item: Item) => item[index.sortKey.name]?.S ?? '';
  const forward = order === 'oldest first';
  const precedes = (a: string, b: string) => (forward ? a < b : a > b);
  // One more than the page, to know whether anything remains.
  const wanted = limit + 1;
  const count = partitions.length === 1 ? wanted : Math.ceil(wanted / partitions.length) + margin;

  const streams: Stream[] = partitions.map((partition) => ({
    partition,
    entries: [],
    open: true,
    after: request.after,
  }));
  let merged: Item[] = [];
  let behind = streams;
  // Each round reads on, or closes, every stream that may still hold an entry of the page.
  while (behind.length > 0) {
    await Promise.all(behind.map((stream) => readOn(stream, count, request)));
    merged = streams
      .flatMap(({ entries }) => entries)
      .sort((a, b) => (precedes(sortKey(a), sortKey(b)) ? -1 : 1))
      .slice(0, wanted);
    const last = merged.length === wanted ? merged.at(-1) : undefined;
    behind = streams.filter(
      ({ open, after = '' }) => open && (!last || precedes(after, sortKey(last))),
    );
  }

  const items = merged.slice(0, limit);
  const entries = items.map((item) => convert(item, attributes));
  const final = items.at(-1);
  return merged.length > limit && final ? { entries, next: sortKey(final) } : { entries };
};
