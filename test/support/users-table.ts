/** Reads the users table of a service directly, without the service. */
import { expect, inject } from 'vitest';
import { brokenItems, type Item, scan, usersIn } from './stored-items.ts';

interface Stored {
  readonly environment: Readonly<Record<string, string>>;
}

export const userItems = ({ environment }: Stored): Promise<readonly Item[]> =>
  scan(inject('engine'), environment.USERS_TABLE ?? '');

/** The item that has the sessions of a user. */
export const sessionsItem = async (service: Stored, id: number): Promise<Item | undefined> =>
  (await userItems(service)).find(({ pk }) => pk === `sessions#${id}`);

/** Expects that no item breaks the rules of the table, and that no id occurs twice. */
export const expectSoundTable = async (service: Stored): Promise<void> => {
  const items = await userItems(service);
  expect(brokenItems(items)).toEqual([]);
  const ids = usersIn(items).map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
};
