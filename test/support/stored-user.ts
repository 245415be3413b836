import { randomUUID } from 'node:crypto';
import { remove } from '../../lib/accounts/delete-user.ts';
import { shownUser } from '../../lib/accounts/user-response.ts';
import { addressMoved } from '../../lib/options/verified-addresses/address-link.ts';
import type { StoredUser, UserFields } from '../../lib/users/item.ts';
import { allocateUserId, findStoredUser, insertUser } from '../../lib/users/store.ts';
import { rewriteUser, writeUser } from '../../lib/users/write.ts';
import { uniqueEmail } from './client.ts';

/** A user to store, with an address of its own. */
export const storedUser = (fields: Pick<StoredUser, 'id'> & Partial<StoredUser>): StoredUser => ({
  name: 'Some One',
  email: uniqueEmail(),
  role: 'user',
  created_at: new Date().toISOString(),
  password_hash: randomUUID(),
  version: randomUUID(),
  ...fields,
});

/** A user that is not stored yet, with an id of its own. */
export const newUser = async (fields: Partial<StoredUser> = {}): Promise<StoredUser> =>
  storedUser({ id: await allocateUserId(), ...fields });

/** A user that is stored. */
export const insertedUser = async (fields: Partial<StoredUser> = {}): Promise<StoredUser> => {
  const user = await newUser(fields);
  await insertUser(user);
  return user;
};

/** The fields that responses show of the user with an id; undefined if there is no such user. */
export const findUser = async (id: number) => {
  const user = await findStoredUser(id);
  return user && shownUser(user);
};

/** Sets fields of a user, as an operator does. */
export const setFields = (id: number, { email, ...fields }: UserFields): Promise<StoredUser> =>
  rewriteUser(id, (user) => writeUser(user, { fields }, addressMoved(user, email ?? user.email)));

/** Removes a user, without an entry and a notice. */
export const removeUser = (id: number): Promise<StoredUser> =>
  rewriteUser(id, (user) => remove(user));
