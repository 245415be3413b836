/** The query of the list of users in the forms of the address bar, the controls and the API. */

import type { Operations, User } from '../../client/paths.ts';
import { api, type Page, sendForPage, sendUnless, settings } from './api.ts';

type Texts = Readonly<Record<string, string>>;

/** The texts of the values that users can choose, if the options are on that the values are about. */
export const roles: Texts = {
  '': 'All users',
  admin: 'Admins',
  ...(settings.sessions && { auditor: 'Auditors' }),
};
export const statuses: Texts = {
  '': 'Any',
  ...(settings.passwordReset && { invited: 'Invited' }),
  ...(settings.sessions && { suspended: 'Suspended' }),
  ...(settings.verification && { unverified: 'Address not verified' }),
};
export const orders: Texts = { '': 'Oldest first', desc: 'Newest first' };
export const seenOrders: Texts = { '': 'Longest ago first', desc: 'Last seen first' };

/** The query of the list: all that is in the address bar. */
export interface UserQuery {
  /** A part of the name or of the address, or the id; empty: all users are listed. */
  readonly q: string;
  readonly role: string;
  readonly status: string;
  readonly order: string;
  /** A day, such as `2026-08-30`: those who have not been seen since. All other fields but `order` wait then. */
  readonly seenBefore: string;
}

/** The query of all users. */
export const everybody: UserQuery = { q: '', role: '', status: '', order: '', seenBefore: '' };

/** @param query of the address bar */
export function readUserQuery(query: Readonly<Record<string, string>>): UserQuery {
  const chosen = (texts: Texts, name: string) =>
    (texts[query[name] ?? ''] ? query[name] : '') ?? '';
  const { q = '', seenBefore = '' } = query;
  return {
    q,
    role: chosen(roles, 'role'),
    status: chosen(statuses, 'status'),
    order: chosen(orders, 'order'),
    seenBefore: settings.sessions && /^\d{4}-\d\d-\d\d$/.test(seenBefore) ? seenBefore : '',
  };
}

/** The part of a query that the service can answer: it combines `seenBefore` with the order alone. */
export const inForce = ({ seenBefore, order, ...query }: UserQuery): UserQuery =>
  seenBefore ? { ...everybody, seenBefore, order } : { ...query, seenBefore, order };

/** Whether the service reads all users to find those of a query, a part with each request. */
export const isWalk = ({ q, role, status }: UserQuery): boolean =>
  q !== '' || status !== '' || role === 'auditor';

/** The most users of a page, and the most users that a search shows. */
export const limit = 100;

/** @param path of a page after the first one */
export function readUsers(query: UserQuery, path?: string): Promise<Page<User[]>> {
  if (path) return sendForPage(api.GET(path as '/api/users'));
  const { q, role, status, order, seenBefore } = query;
  const filter = {
    limit,
    ...(seenBefore && { seenBefore }),
    ...(role && (role === 'auditor' ? { auditor: 'true' } : { role })),
    ...(status && { status }),
    ...(order && { order }),
  };
  return q ? find(q, filter) : list(filter);
}

/** The id that a text is, with or without `#`; undefined: it is none. */
export const idIn = (text: string): string | undefined => /^#?0*(\d{1,16})$/.exec(text)?.[1];

type ListQuery = Readonly<Record<string, string | number>>;

/** The user whose id or whole address is sought, found by an index; otherwise all users with this part. */
async function find(sought: string, query: ListQuery): Promise<Page<User[]>> {
  const isAlone = !('status' in query || 'auditor' in query);
  const id = idIn(sought);
  if (isAlone && id) {
    const params = { path: { id: Number(id) } };
    const found = await sendUnless('USER_NOT_FOUND', api.GET('/api/users/{id}', { params }));
    if (found) return { data: [found] };
  } else if (isAlone && /^[^\s@]+@[^\s@]+$/.test(sought)) {
    const found = await list({ email: sought });
    if (found.data.length > 0) return found;
  }
  return sought.length > 100 ? { data: [] } : list({ ...query, search: sought });
}

type Parameters = NonNullable<
  NonNullable<Operations['GET /api/users']['given']['params']>['query']
>;

function list(query: ListQuery): Promise<Page<User[]>> {
  return sendForPage(api.GET('/api/users', { params: { query: query as Parameters } }));
}
