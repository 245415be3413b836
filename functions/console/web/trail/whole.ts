/** All entries of a query, which charts and groups count. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { AuditEntry } from '../contract.d.ts';
import { type Loading, useLoad } from '../loading.ts';
import type { TrailState } from './query.ts';
import { readAll } from './read.ts';

/** Entries that are read at most. */
export const mostEntries = 10_000;

type Entries = readonly AuditEntry[];

export interface Whole extends Loading<Entries> {
  /** Whether there are more than are read. */
  readonly isFull: boolean;
}

/** Reads all entries of a query, page after page; its data grow meanwhile. */
export const useWhole = (state: TrailState): Whole => {
  const [read, setRead] = useState<{ readonly key: string; readonly entries?: Entries }>({
    key: '',
  });
  const wanted = useRef('');
  const query = { ...state, group: '', follow: '' } as const;
  const key = JSON.stringify(query);
  useEffect(() => {
    wanted.current = key;
    return () => {
      wanted.current = '';
    };
  }, [key]);
  const loaded = useLoad(key, () =>
    readAll(query, mostEntries, (entries) => {
      if (wanted.current === key) setRead({ key, entries });
      return wanted.current === key;
    }),
  );
  const { data } = loaded;
  const soFar = read.key === key ? read.entries : undefined;
  return { ...loaded, data: data?.data ?? soFar, isFull: data?.next !== undefined };
};
