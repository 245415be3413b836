import {
  type Entry,
  isForward,
  openStream,
  type Place,
  type Reached,
  type Reading,
  type Row,
  readOn,
  type Stream,
} from './partition.ts';
import { isCreatedAtKey } from './tables.ts';

export interface PageRequest extends Reading {
  /** The values of the partition key over which the wanted entries are spread. */
  readonly partitions: readonly string[];
  /** The part of the wanted entries that another index holds. */
  readonly also?: Pick<Required<Reading>, 'index' | 'matches'> & { readonly partition: string };
  /** Entries at most; absent: no bound. */
  readonly limit?: number | undefined;
  /** The place after which to begin, from an earlier page; absent: from the beginning. */
  readonly after?: string | undefined;
  /** Entries to read at most, wanted or not, at least one for each partition. Absent: no bound. */
  readonly mostRead?: number;
  /** Requests for each partition at most; absent: no bound. */
  readonly mostRequests?: number;
}

export interface Page {
  /**
   * As many as were asked for, if there are so many. Fewer, or none, if another bound or the size
   * of the entries ended the reading.
   */
  readonly entries: readonly Entry[];
  /** The place after which the next page begins; absent when nothing remains. */
  readonly next?: string;
  /** The same place for a caller who takes only the first `count` entries, at least one. */
  nextAfter(count: number): string | undefined;
}

/**
 * A place is a sort key, or JSON of an array. No sort key that is a place begins with a bracket.
 */
const readPlace = (place: string | undefined): Place | undefined => {
  if (!place?.startsWith('[')) return place === undefined ? undefined : { key: place };
  const [key, last] = JSON.parse(place);
  return { key, last };
};

const writePlace = ({ key, last }: Place): string => (last ? JSON.stringify([key, last]) : key);

/** Entries that are read of each of several partitions beyond its even share. */
const margin = 4;

/** Full responses (1 MB) after which nothing more is read, to bound the memory. */
const mostFull = 4;

type Compare = (a: Reached, b: Reached) => number;

const orderOf = (request: PageRequest): Compare => {
  const sign = isForward(request) ? 1 : -1;
  return (a, b) => (a.rank === b.rank ? 0 : a.rank < b.rank ? -sign : sign);
};

interface Merged {
  /** The first of the wanted entries, at most one more than the page has. */
  readonly rows: readonly Row[];
  /** Streams that may still hold an entry of the page, where the reading ended before its end. */
  readonly behind: readonly Stream[];
}

/** Reads several partitions, each only as far as the page needs. */
const merge = async (
  streams: readonly Stream[],
  request: PageRequest,
  compare: Compare,
): Promise<Merged> => {
  const { limit = Number.POSITIVE_INFINITY, mostRequests = Number.POSITIVE_INFINITY } = request;
  // One more than the page, to know whether anything remains.
  const wanted = limit + 1;
  const { length } = streams;
  let count = length === 1 ? wanted : Math.ceil(wanted / length) + margin;
  let left = request.mostRead ?? Number.POSITIVE_INFINITY;
  let full = 0;
  let rows: readonly Row[] = [];
  let behind = streams;
  // Each round reads on, or closes, every stream that may still hold an entry of the page.
  const mayReadOn = () => behind.length > 0 && left >= behind.length && full < mostFull;
  for (let round = 0; mayReadOn() && round < mostRequests; round += 1) {
    const share = Math.min(count, Math.floor(left / behind.length));
    const readings = await Promise.all(behind.map((stream) => readOn(stream, share)));
    left -= readings.reduce((sum, { read }) => sum + read, 0);
    full += readings.filter(({ isFull }) => isFull).length;
    const all = streams.flatMap((stream) => stream.rows);
    rows = all.sort((a, b) => compare(a, b) || a.stream - b.stream).slice(0, wanted);
    const last = rows[wanted - 1];
    behind = streams.filter(({ open, at }) => open && (!last || !at || compare(at, last) < 0));
    if (!last) count *= 2;
  }
  return { rows, behind };
};

/** The place after the last of some entries, as far as it was passed in each stream. */
const placeAfter = (passed: readonly Reached[], begin: Place | undefined): Place => {
  const { key = '' } = passed.at(-1) ?? {};
  const last = { ...(begin?.key === key ? begin.last : {}) };
  for (const { key: own, stream, id } of passed) if (own === key && id) last[stream] = id;
  return { key, last };
};

/**
 * Reads one page of an index. Several partitions are merged by sort key, so that the cost depends
 * on the page's size and not on the index's.
 * @throws {DomainError} STORAGE_FAULT
 */
export const readPage = async (request: PageRequest): Promise<Page> => {
  const { partitions, also, limit, after } = request;
  const begin = readPlace(after);
  const parts = partitions.map((partition) => ({ ...request, partition }));
  const streams = [...parts, ...(also ? [{ ...request, ...also }] : [])].map((part, number) =>
    openStream(part, part.partition, number, begin),
  );
  const compare = orderOf(request);
  const { rows: read, behind } = await merge(streams, request, compare);

  // Entries beyond the place up to which all streams have been read are left to the next page.
  const [end] = behind.flatMap(({ at }) => at ?? []).sort(compare);
  const rows = end ? read.filter((row) => compare(row, end) <= 0) : read;
  const page = rows.slice(0, limit);

  const nextAfter = (count: number): string | undefined => {
    if (count >= page.length && end) {
      const reached = behind.flatMap(({ at }) => (at?.key === end.key ? at : []));
      return writePlace(placeAfter([...page, ...reached], begin));
    }
    const [row, following] = [page[count - 1], rows[count]];
    if (!row || !following) return undefined;
    // A key of the usual form belongs to one entry, unless the next entry has the same key.
    const isAlone = isCreatedAtKey(row.key) && following.key !== row.key;
    return isAlone ? row.key : writePlace(placeAfter(page.slice(0, count), begin));
  };
  const next = nextAfter(page.length);
  const entries = page.map(({ entry }) => entry);
  return { entries, ...(next === undefined ? {} : { next }), nextAfter };
};
