/** The users of a page of the trail, as the service stores them and as entries name them. */

import type { AuditEntries, AuditEntry, User, UserDetails } from '../../../client/paths.ts';
import { api, sendForPage, sendUnless } from '../api.ts';
import { createStore, type Store } from '../store.ts';
import { detailsOf, isPosted } from './happened.ts';

/** A user of whom the trail may know more than the service. */
export interface Known extends Partial<Omit<User, 'id' | 'name'>> {
  readonly id: number | string;
  readonly name?: string | undefined;
  readonly isDeleted?: boolean;
  /** Whether nobody has the id, and the trail knows of nobody who had it. */
  readonly isUnknown?: boolean;
}

/** The known fields of users, by their ids. The service is asked once for each user, when first shown. */
const users = new Map<string, Store<Known>>();
const asked = new Set<string>();

/** The ids of users who existed, according to entries of the trail. */
const existed = new Set<string>();

/** Forgets who was asked for, because users may have changed: each is asked for again when shown again. */
export const forgetUsers = (): void => asked.clear();

/** The fields of a user that are known by now. */
export const knownOf = (id: string): Store<Known> => {
  const store = users.get(id) ?? createStore<Known>({ id });
  users.set(id, store);
  return store;
};

const trailPath = '/api/admin/audit-logs';

/** The requests so far. Each waits for the sixth before it, so that at most six are under way. */
const underWay: Promise<void>[] = [];

const ask = async (id: string, before: Promise<void> | undefined): Promise<void> => {
  await before;
  const store = knownOf(id);
  const params = { path: { id: Number(id) } };
  try {
    const user = await sendUnless('USER_NOT_FOUND', api.GET('/api/users/{id}', { params }));
    if (user) return store.set(user);
    const isDeleted = existed.has(id) || (await isInTrail(id));
    store.set({ ...store.get(), isDeleted, isUnknown: !isDeleted });
  } catch {
    asked.delete(id);
  }
};

/** Whether the trail has the deletion of a user. */
const isInTrail = async (id: string): Promise<boolean> => {
  const query = { resourceId: id, action: 'DELETE', result: 'SUCCESS' } as const;
  let page = await sendForPage(api.GET(trailPath, { params: { query } }));
  const hasIt = () =>
    (page.data as AuditEntries).data.some(
      (entry) => entry.resource === 'users' && entry.resource_id === id,
    );
  while (!hasIt() && page.next) page = await sendForPage(api.GET(page.next as typeof trailPath));
  return hasIt();
};

/** Finds out whether a user who is not stored ever existed. */
export const askFor = (id: number): Promise<void> => ask(String(id), undefined);

export const tellUser = (user: UserDetails): void => knownOf(String(user.id)).set(user);

/** Notes who existed and who is deleted, with the names that entries of deletions hold if AUDIT_DETAIL is `full`. */
export const tellNames = (entries: readonly AuditEntry[]): void => {
  for (const entry of entries) tellExistence(entry);
  for (const entry of entries) {
    const { action, resource, result, resource_id: id } = entry;
    if (id === null || `${action} ${resource} ${result}` !== 'DELETE users SUCCESS') continue;
    const { name } = detailsOf(entry);
    const store = knownOf(String(id));
    asked.add(String(id));
    store.set({ id, name: typeof name === 'string' ? name : store.get().name, isDeleted: true });
  }
};

const tellExistence = ({ resource, result, user_id: by, resource_id: id }: AuditEntry): void => {
  // A machine may name a user who never existed.
  if (!isPosted({ resource })) existed.add(String(by));
  if (resource === 'users' && result === 'SUCCESS') existed.add(String(id));
};

/** Asks the service for a user who is shown for the first time. */
export const askOnce = (id: string): void => {
  if (asked.has(id)) return;
  asked.add(id);
  underWay.push(ask(id, underWay.at(-6)));
};
