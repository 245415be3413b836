import type { AuditEntry } from '../../../client/paths.ts';
import { type Loading, useLoad } from '../loading.ts';
import type { Part } from './follow.ts';
import { type Span, spanOf } from './histogram.ts';
import type { TrailState } from './query.ts';
import { readAll } from './read.ts';

export interface Whole extends Loading<readonly AuditEntry[]>, Pick<Part, 'isFull'> {
  /** Changes the loaded data, unless other data is loaded meanwhile. */
  update(change: (part: Part) => Part): void;
}

/** Reads all entries of a query, page after page; the data grows meanwhile. */
export const useWhole = (state: TrailState): Whole => {
  const query = { ...state, group: '', follow: '' } as const;
  const { data: part, ...loaded } = useLoad<Part>(JSON.stringify(query), (show) =>
    readAll(query, (data) => show({ data, isFull: false })),
  );
  return { ...loaded, data: part?.data, isFull: part?.isFull ?? false };
};

/** The time range of the entries that were read: the query has no other entries in it. */
export const spanRead = (
  { data = [], isBusy, isFull, failure }: Whole,
  { since, until = '' }: Pick<Span, 'since'> & Partial<Span>,
): Span => {
  const read = spanOf(data);
  return { since: isBusy || isFull || failure ? read.since : since, until: until || read.until };
};
