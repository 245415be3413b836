import type { StoredUser } from '../../lib/users/items.ts';
import { findUserByEmail } from '../../lib/users/store.ts';
import { Failure } from './failure.ts';

/** @throws {Failure} when no user has the email address */
export const requireUser = async (email: string): Promise<StoredUser> => {
  const user = await findUserByEmail(email);
  if (!user) throw new Failure('There is no user with this email address: check its spelling.');
  return user;
};
