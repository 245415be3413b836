import type { AuditEntries, AuditEntry } from '../../../client/paths.ts';
import { api, ConsoleError, type Page, sendForPage } from '../api.ts';
import { mostEntries, type Part } from './follow.ts';
import { passes } from './groups.ts';
import { tellNames } from './known-users.ts';
import { parametersOf, type TrailState } from './query.ts';

const path = '/api/admin/audit-logs';

/** A page of a query: the first page, or the page at a path. */
const readPage = async (state: TrailState, next?: string): Promise<Page<readonly AuditEntry[]>> => {
  const odd = [state.userId, state.about].find((id) => !/^(?:\d*|none)$/.test(id));
  if (odd)
    throw new ConsoleError(`${odd} is not the id of a user: type a name or an address above.`);
  const page = await sendForPage(
    next ? api.GET(next as typeof path) : api.GET(path, { params: { query: parametersOf(state) } }),
  );
  const { data } = page.data as AuditEntries;
  tellNames(data);
  return {
    ...page,
    data: data.filter((entry) => passes(entry, state)),
  };
};

/**
 * All entries of a query, up to {@link mostEntries}.
 * @param onRead gets the entries that were read so far; if it returns false, nothing more is read
 */
export const readAll = async (
  state: TrailState,
  onRead: (entries: readonly AuditEntry[]) => boolean = () => true,
): Promise<Part> => {
  let page = await readPage(state);
  let { data } = page;
  while (page.next && data.length < mostEntries && onRead(data)) {
    page = await readPage(state, page.next);
    data = [...data, ...page.data];
  }
  return { data, isFull: page.next !== undefined };
};

export const exportForms = { csv: 'text/csv', ndjson: 'application/x-ndjson' } as const;
export type ExportForm = keyof typeof exportForms;

/** A page of a query as text, of up to 1,000 entries: the first page, or the page at a path. */
export const readText = async (
  { form, next }: { form: ExportForm; next?: string },
  state: TrailState,
  signal: AbortSignal,
): Promise<Page<string>> => {
  const headers = { Accept: `${exportForms[form]}, application/problem+json` };
  const options = { headers, signal };
  const page = await sendForPage(
    next
      ? api.GET(next as typeof path, options)
      : api.GET(path, { ...options, params: { query: parametersOf(state) } }),
  );
  return { ...page, data: String(page.data ?? '') };
};
