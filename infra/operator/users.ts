import { DomainError } from '../../lib/errors.ts';
import type { StoredUser } from '../../lib/users/items.ts';
import { findUserByEmail } from '../../lib/users/store.ts';
import type { User } from '../../lib/users/user.ts';
import { Failure } from './failure.ts';

/** With what nothing shows. @throws {Failure} when nobody has the address */
export const requireStoredUser = async (email: string): Promise<StoredUser> => {
  const { user } = await findUserByEmail(email);
  if (!user) throw new Failure('There is no user with this email address: check its spelling.');
  return user;
};

/** @throws {Failure} when nobody has the address */
export const requireUser = (email: string): Promise<User> => requireStoredUser(email);

const faults = new Set(['FIELD_INVALID', 'FIELDS_REQUIRED']);

/** The rule of lib/users/schema.ts that a value breaks, or undefined for another error. */
export const brokenRule = (error: unknown): string | undefined =>
  error instanceof DomainError && faults.has(error.code) ? error.message : undefined;

/** Text that others chose, without what a terminal would obey. */
export const printable = (text: string): string => text.replace(/[\p{Cc}\p{Cf}]/gu, '�');
