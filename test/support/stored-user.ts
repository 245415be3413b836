import { randomUUID } from 'node:crypto';
import type { StoredUser } from '../../lib/users/items.ts';
import { uniqueEmail } from './client.ts';

/** A user to store, with an address of its own. */
export const storedUser = (fields: Pick<StoredUser, 'id'> & Partial<StoredUser>): StoredUser => ({
  name: 'Some One',
  email: uniqueEmail(),
  role: 'user',
  created_at: new Date().toISOString(),
  password_hash: randomUUID(),
  ...fields,
});
