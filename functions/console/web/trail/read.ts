/** Requests for the audit trail. */
import { api, Failure, type Page, send, sendForPage } from '../api.ts';
import type { AuditEntries, AuditEntry } from '../contract.d.ts';
import { maxRows } from './follow.ts';
import { parametersOf, type TrailState } from './query.ts';

const path = '/api/admin/audit-logs';

/** A page of a query: the first one, or the one at a path. */
export const readPage = async (
  state: TrailState,
  next?: string,
): Promise<Page<readonly AuditEntry[]>> => {
  const page = await sendForPage(
    next ? api.GET(next as typeof path) : api.GET(path, { params: { query: parametersOf(state) } }),
  );
  return { ...page, data: (page.data as AuditEntries).data };
};

/** All entries of a query, but no more than the page keeps. */
export const readAll = async (state: TrailState): Promise<readonly AuditEntry[]> => {
  const entries: AuditEntry[] = [];
  let page = await readPage(state);
  entries.push(...page.data);
  while (page.next && entries.length < maxRows) {
    page = await readPage(state, page.next);
    entries.push(...page.data);
  }
  return entries;
};

/** The media types of exports. */
export const exportForms = { csv: 'text/csv', ndjson: 'application/x-ndjson' } as const;

/** A page of a query as text, of up to 1,000 entries. */
export const readText = async (
  form: keyof typeof exportForms,
  state: TrailState,
  { next, signal }: { next: string | undefined; signal: AbortSignal },
): Promise<Page<string>> => {
  const options = {
    headers: { Accept: `${exportForms[form]}, application/problem+json` },
    parseAs: 'text' as const,
    signal,
  };
  const page = await sendForPage(
    next
      ? api.GET(next as typeof path, options)
      : api.GET(path, { ...options, params: { query: parametersOf(state) } }),
  );
  return { ...page, data: String(page.data) };
};

/** The id of the user with an address; other text as it is. @throws {Failure} nobody has it */
export const findId = async (text: string): Promise<string> => {
  const sought = text.trim();
  if (!sought.includes('@')) return sought;
  const users = await send(api.GET('/api/users', { params: { query: { email: sought } } }));
  if (!users[0]) throw new Failure(`No user has the address ${sought}.`);
  return String(users[0].id);
};
