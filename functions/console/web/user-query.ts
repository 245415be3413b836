/** The query of the list of users in the forms of the address bar, the controls and the API. */

import type { paths, User } from '../../client/paths.ts';
import { api, type Page, sendForPage, sendUnless } from './api.ts';

/** The texts of the roles and of the orders that users can choose. */
export const roles = { '': 'All users', admin: 'Admins' } as const;
export const orders = { '': 'Oldest first', desc: 'Newest first' } as const;

/** The query of the list: all that is in the address bar. */
export interface UserQuery {
  /** A part of the name or of the address, or the id; empty: all users are listed. */
  readonly q: string;
  readonly role: keyof typeof roles;
  readonly order: keyof typeof orders;
}

/** @param query of the address bar */
export function readUserQuery(query: Readonly<Record<string, string>>): UserQuery {
  const { q = '', role, order } = query;
  return {
    q,
    role: role === 'admin' ? role : '',
    order: order === 'desc' ? order : '',
  };
}

/** The most users of a page, and the most users that a search shows. */
export const limit = 100;

/** @param path of a page after the first one */
export function readUsers({ q, role, order }: UserQuery, path?: string): Promise<Page<User[]>> {
  if (path) return sendForPage(api.GET(path as '/api/users'));
  const query = { limit, ...(role && { role }), ...(order && { order }) };
  return q ? find(q, query) : list(query);
}

type ListQuery = NonNullable<paths['/api/users']['get']['parameters']['query']>;

/** The user whose id or whole address is sought, found by an index; otherwise all users with this part. */
async function find(sought: string, query: ListQuery): Promise<Page<User[]>> {
  if (/^#?\d{1,16}$/.test(sought)) {
    const params = { path: { id: Number(sought.replace('#', '')) } };
    const found = await sendUnless('USER_NOT_FOUND', api.GET('/api/users/{id}', { params }));
    if (found) return { data: [found] };
  } else if (/^[^\s@]+@[^\s@]+$/.test(sought)) {
    const found = await list({ email: sought });
    if (found.data.length > 0) return found;
  }
  return sought.length > 100 ? { data: [] } : list({ ...query, search: sought });
}

function list(query: ListQuery): Promise<Page<User[]>> {
  return sendForPage(api.GET('/api/users', { params: { query } }));
}
