/** Users of one file's own tables, and the items of their links. */
import { inject } from 'vitest';
import type { StoredUser } from '../../lib/users/item.ts';
import { insertUser } from '../../lib/users/store.ts';
import { useOwnTables } from './own-tables.ts';
import { scan } from './stored-items.ts';
import { storedUser } from './stored-user.ts';

export const tables = await useOwnTables();

let lastId = 0;
export const newUser = async (fields: Partial<StoredUser> = {}): Promise<StoredUser> => {
  lastId += 1;
  const user = storedUser({ id: lastId, email: `${lastId}@example.org`, ...fields });
  await insertUser(user);
  return user;
};

export const start = new Date('2026-11-21T09:05:00Z');
/** The time this many seconds after {@link start}. */
export const at = (seconds: number) => new Date(start.getTime() + 1000 * seconds);

export const itemOf = async ({ id }: StoredUser) =>
  (await scan(inject('engine'), tables.users)).find(({ pk }) => pk === `reset#${id}`);
