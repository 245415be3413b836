import { DomainError } from '../../lib/errors.ts';
import { findUserByEmail } from '../../lib/users/store.ts';
import type { User } from '../../lib/users/user.ts';
import { Failure } from './failure.ts';

/** @throws {Failure} when nobody has the address */
export const requireUser = async (email: string): Promise<User> => {
  const { user } = await findUserByEmail(email);
  if (!user) throw new Failure('There is no user with this email address: check its spelling.');
  return user;
};

const faults = new Set(['FIELD_INVALID', 'FIELDS_REQUIRED']);

/** The rule of lib/users/schema.ts that a value breaks, or undefined for another error. */
export const brokenRule = (error: unknown): string | undefined =>
  error instanceof DomainError && faults.has(error.code) ? error.message : undefined;

/** Text that others chose, without what a terminal would obey. */
export const printable = (text: string): string => text.replace(/[\p{Cc}\p{Cf}]/gu, '�');
