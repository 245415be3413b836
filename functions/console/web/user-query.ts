/** The query of the list of users, as the address bar, the controls and the API have it. */
import { api, Failure, type Page, send, sendForPage } from './api.ts';
import type { User } from './contract.d.ts';

/** The texts of the roles and of the orders that one can choose. */
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

/** Users of a page at most, and those that a search shows at most. */
export const limit = 100;

/** @param path of a page after the first one */
export function readUsers({ q, role, order }: UserQuery, path?: string): Promise<Page<User[]>> {
  if (path) return sendForPage(api.GET(path as '/api/users'));
  const query = { limit, ...(role && { role }), ...(order && { order }) };
  return q ? find(q, query) : list(query);
}

interface ListQuery {
  readonly limit?: number;
  readonly order?: 'asc' | 'desc';
  readonly role?: 'admin';
  readonly email?: string;
  readonly search?: string;
}

/** The user with an id or a whole address, which an index finds; else all with this part. */
async function find(sought: string, query: ListQuery): Promise<Page<User[]>> {
  const isAddress = /^[^\s@]+@[^\s@]+$/.test(sought);
  if (/^#?\d{1,16}$/.test(sought)) {
    const found = await findById(Number(sought.replace('#', '')));
    if (found.data.length > 0) return found;
  } else if (isAddress) {
    const found = await list({ email: sought });
    if (found.data.length > 0) return found;
  }
  return sought.length > 100 ? { data: [] } : list({ ...query, search: sought });
}

async function findById(id: number): Promise<Page<User[]>> {
  try {
    return { data: [await send(api.GET('/api/users/{id}', { params: { path: { id } } }))] };
  } catch (error) {
    if (error instanceof Failure && error.status === 404) return { data: [] };
    throw error;
  }
}

function list(query: ListQuery): Promise<Page<User[]>> {
  return sendForPage(api.GET('/api/users', { params: { query } }));
}
