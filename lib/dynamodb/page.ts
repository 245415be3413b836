/**
 * Pages of entries in the order of an index's sort key, from one partition or merged from several. The cost depends
 * on the size of the page and not on the size of the index.
 */
import { type AttributeValue, QueryCommand } from '@aws-sdk/client-dynamodb';
import { convertToNative } from '@aws-sdk/util-dynamodb';
import { type StoredItem, send } from './client.ts';
import type { IndexDefinition } from './tables.ts';

type Entry = Readonly<Record<string, unknown>>;

interface Reading {
  readonly table: string;
  readonly index: IndexDefinition;
  readonly order: 'asc' | 'desc';
  readonly attributes: readonly string[];
  /** Converts an attribute; absent: the document client converts attributes, and absent attributes are left out. */
  readonly shown?: (value: AttributeValue | undefined, name: string) => unknown;
  /** The range of sort keys: `from` is inclusive, `to` is exclusive; absent: no bound. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly matches?: (entry: Entry) => boolean;
}

export interface PageRequest extends Reading {
  /** The values of the partition key over which the wanted entries are spread. */
  readonly partitions: readonly string[];
  /** Further wanted entries, which another index holds. */
  readonly also?: Pick<Required<Reading>, 'index' | 'matches'> & Pick<PageRequest, 'partitions'>;
  /** The most entries of the page; absent: no bound. */
  readonly limit?: number | undefined;
  /** The sort key after which the page begins, which an earlier page has returned. */
  readonly after?: string | undefined;
  /** The most entries to read, wanted or not: at least as many as there are partitions. Absent: no bound. */
  readonly mostRead?: number;
  /** The most requests for each partition; absent: no bound. */
  readonly mostRequests?: number;
}

export interface Page {
  /**
   * As many entries as were requested, if there are so many. Fewer entries, or none, if another bound or the size of
   * the entries ended the reading.
   */
  readonly entries: readonly Entry[];
  /** The sort key after which the next page begins; absent when nothing remains. */
  readonly next?: string;
  /** The next sort key for a caller who takes only the first `count` entries, at least one. */
  nextAfter(count: number): string | undefined;
}

/** Reads one page of an index. No two entries that the service wrote have the same sort key. */
export async function readPage(request: PageRequest): Promise<Page> {
  const { partitions, also, limit = Number.POSITIVE_INFINITY, after } = request;
  const streams = [
    ...partitions.map((partition) => streamOf(request, partition, after)),
    ...(also?.partitions ?? []).map((partition) =>
      streamOf({ ...request, ...also }, partition, after),
    ),
  ];
  const { rows, end } = await merge(streams, request);
  const page = rows.slice(0, lengthOfPage(rows, limit));

  const nextAfter = (count: number) => (count < rows.length ? rows[count - 1]?.key : end?.key);
  const next = nextAfter(page.length);
  const entries = page.map(({ entry }) => entry);
  return { entries, ...(next === undefined ? {} : { next }), nextAfter };
}

interface Row {
  readonly key: string;
  readonly entry: Entry;
}

interface Stream {
  readonly reading: Reading;
  readonly partition: string;
  readonly after: string | undefined;
  readonly rows: Row[];
  open: boolean;
  /** The last item that was read, wanted or not; the next request begins after it. */
  at: { readonly key: string; readonly start: StoredItem } | undefined;
}

function streamOf(reading: Reading, partition: string, after: string | undefined): Stream {
  return { reading, partition, after, rows: [], open: true, at: undefined };
}

/** The number of full responses (1 MB each) after which nothing more is read, to limit the memory. */
const mostFull = 4;

/** If there are several partitions, so many entries are read of each in addition to its even share. */
const margin = 4;

/**
 * Reads several partitions, each only as far as the page needs.
 * @returns the first wanted entries, at most one more than a page has; and, if the page is not complete, the key up to
 *   which all partitions were read
 */
async function merge(streams: readonly Stream[], request: PageRequest) {
  const { limit = Number.POSITIVE_INFINITY, mostRequests = Number.POSITIVE_INFINITY } = request;
  const compare = orderOf(request);
  // One entry more than the page has, to know whether anything remains.
  const wanted = limit + 1;
  const { length } = streams;
  let count = length === 1 ? wanted : Math.ceil(wanted / length) + margin;
  let left = request.mostRead ?? Number.POSITIVE_INFINITY;
  let full = 0;
  let rows: readonly Row[] = [];
  let behind = streams;
  // Each round reads on in every stream that may still hold an entry of the page.
  const mayReadOn = () => behind.length > 0 && left >= behind.length && full < mostFull;
  for (let round = 0; mayReadOn() && round < mostRequests; round += 1) {
    const share = Math.min(count, Math.floor(left / behind.length));
    const readings = await Promise.all(behind.map((stream) => readOn(stream, share)));
    left -= readings.reduce((sum, { read }) => sum + read, 0);
    full += readings.filter(({ isFull }) => isFull).length;
    rows = streams
      .flatMap((stream) => stream.rows)
      .sort(compare)
      .slice(0, wanted);
    const last = rows[wanted - 1];
    behind = streams.filter(({ open, at }) => open && (!last || !at || compare(at, last) < 0));
    if (!last) count *= 2;
  }
  // Entries beyond the key up to which all streams were read are left to the next page.
  const [end] = behind.flatMap(({ at }) => at ?? []).sort(compare);
  return { rows: end ? rows.filter((row) => compare(row, end) <= 0) : rows, end };
}

type Compare = (a: { readonly key: string }, b: { readonly key: string }) => number;

function orderOf(request: PageRequest): Compare {
  const sign = isForward(request) ? 1 : -1;
  return (a, b) => (a.key === b.key ? 0 : a.key < b.key ? -sign : sign);
}

function isForward({ order }: Reading): boolean {
  return order === 'asc';
}

async function readOn(stream: Stream, count: number): Promise<{ read: number; isFull: boolean }> {
  const { from = '', to, matches = () => true, index } = stream.reading;
  const keyOf = (item: StoredItem) => item[index.sortKey.name]?.S ?? '';
  const isFromOn = (key: string) => key >= from;
  const isBeforeTo = (key: string) => to === undefined || key < to;
  const { Items = [], LastEvaluatedKey: start } = await query(stream, count);
  for (const item of Items) {
    const row = { key: keyOf(item), entry: convert(item, stream.reading) };
    if (isFromOn(row.key) && isBeforeTo(row.key) && matches(row.entry)) stream.rows.push(row);
  }
  stream.at = start && { key: keyOf(start), start };
  const mayGoOn = isForward(stream.reading) ? isBeforeTo : isFromOn;
  stream.open = stream.at !== undefined && mayGoOn(stream.at.key);
  return { read: Items.length, isFull: start !== undefined && Items.length < count };
}

function query(stream: Stream, count: number) {
  const { partition, at, reading } = stream;
  const { text, values } = conditionOf(stream);
  const { partitionKey, sortKey, name } = reading.index;
  const command = new QueryCommand({
    TableName: reading.table,
    IndexName: name,
    KeyConditionExpression: `#p = :p${text}`,
    ExpressionAttributeNames: { '#p': partitionKey.name, ...(text ? { '#s': sortKey.name } : {}) },
    ExpressionAttributeValues: { ':p': { S: partition }, ...values },
    ScanIndexForward: isForward(reading),
    ...(Number.isFinite(count) ? { Limit: count } : {}),
    ...(at ? { ExclusiveStartKey: at.start } : {}),
  });
  return send(command);
}

/** DynamoDB accepts one condition, and BETWEEN includes both ends; {@link readOn} leaves out the rest. */
function conditionOf({ reading, after }: Stream) {
  const { from, to } = reading;
  if (after !== undefined) {
    return { text: ` AND #s ${isForward(reading) ? '>' : '<'} :a`, values: { ':a': { S: after } } };
  }
  if (from !== undefined && to !== undefined) {
    const values = { ':a': { S: from }, ':b': { S: to } };
    return { text: ' AND #s BETWEEN :a AND :b', values };
  }
  const bound = from ?? to;
  if (bound === undefined) return { text: '', values: {} };
  return { text: ` AND #s ${bound === from ? '>=' : '<'} :a`, values: { ':a': { S: bound } } };
}

function convert(
  item: StoredItem,
  { attributes, shown = (value) => value && convertToNative(value) }: Reading,
): Entry {
  const entry: Record<string, unknown> = {};
  for (const name of attributes) {
    const value = shown(item[name], name);
    if (value !== undefined) entry[name] = value;
  }
  return entry;
}

/** The number of entries of a page. Entries with equal keys stay in one page, unless all entries have the same key. */
function lengthOfPage(rows: readonly Row[], limit: number): number {
  const following = rows[limit]?.key;
  const last = rows.slice(0, limit).findLastIndex(({ key }) => key !== following);
  return last < 0 ? limit : last + 1;
}
