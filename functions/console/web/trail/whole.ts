import type { AuditEntry } from '../../../client/paths.ts';
import type { Page } from '../api.ts';
import { type Loading, useLoad } from '../loading.ts';
import { type Span, spanOf } from './histogram.ts';
import type { TrailState } from './query.ts';
import { readAll } from './read.ts';

export const mostEntries = 10_000;

export interface Whole extends Loading<readonly AuditEntry[]> {
  /** Whether the query has more entries than are read. */
  readonly isFull: boolean;
}

/** Reads all entries of a query, page after page; the data grows meanwhile. */
export const useWhole = (state: TrailState): Whole => {
  const query = { ...state, group: '', follow: '' } as const;
  const { data: page, ...loaded } = useLoad(
    JSON.stringify(query),
    (show: (page: Page<readonly AuditEntry[]>) => boolean) =>
      readAll(query, mostEntries, (data) => show({ data })),
  );
  return { ...loaded, data: page?.data, isFull: page?.next !== undefined };
};

/** The time range of the entries that were read: the query has no other entries in it. */
export const spanRead = (
  { data = [], isBusy, isFull }: Whole,
  { since, until = '' }: Pick<Span, 'since'> & Partial<Span>,
): Span => {
  const read = spanOf(data);
  return { since: isBusy || isFull ? read.since : since, until: until || read.until };
};
