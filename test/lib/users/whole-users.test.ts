import { afterAll, expect, inject, it } from 'vitest';
import { attributesSet } from '../../../lib/options/attributes/attributes.ts';
import type { StoredUser } from '../../../lib/users/item.ts';
import { storedUsersOf } from '../../../lib/users/list.ts';
import { findStoredUser } from '../../../lib/users/store.ts';
import { useOwnTables } from '../../support/own-tables.ts';
import { startProxy } from '../../support/proxy.ts';
import { insertedUser, removeUser } from '../../support/stored-user.ts';

const proxy = await startProxy(inject('engine'), { measure: true });
afterAll(() => proxy.stop());
await useOwnTables(proxy.url);

const withText = async (length: number): Promise<StoredUser> => {
  const { fields } = attributesSet({}, { note: 'x'.repeat(length) });
  return insertedUser({ ...fields });
};
const units = async (read: () => Promise<unknown>): Promise<number> => {
  proxy.forget();
  await read();
  return proxy.consumed.units;
};

it('A user costs one read unit, or two above 4 KB, both alone and in a list with attributes', async () => {
  const [small, large] = [await withText(2000), await withText(4085)];

  expect(await units(() => findStoredUser(small.id))).toBe(1);
  expect(await units(() => findStoredUser(large.id))).toBe(2);
  expect(await units(() => storedUsersOf([small, large]))).toBe(3);
});

it('A user who is deleted while a list is read is left out of the list', async () => {
  const [one, gone, other] = [await withText(1), await withText(1), await withText(1)];
  await removeUser(gone.id);

  const found = await storedUsersOf([one, gone, other]);

  expect(found.map(({ id }) => id)).toEqual([one.id, other.id]);
});
