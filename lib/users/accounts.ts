import { describeFault, logError } from '../log.ts';
import { replacePasswordHash } from './changes.ts';
import type { StoredUser } from './items.ts';
import { hashPassword, needsRehash } from './password.ts';
import type { Role } from './role.ts';
import type { NewUser } from './schema.ts';
import { allocateUserId } from './store.ts';

/**
 * A new user, ready to be stored by `insertUser`. The id is allocated while the hash is computed;
 * one that is never stored leaves a gap.
 * @throws {DomainError} HASHING_FAULT, STORAGE_FAULT
 */
export const prepareUser = async (
  { name, email, password }: NewUser,
  role: Role,
): Promise<StoredUser> => {
  const [password_hash, id] = await Promise.all([hashPassword(password), allocateUserId()]);
  return { id, name, email, role, created_at: new Date().toISOString(), password_hash };
};

/**
 * Raises a hash to the current cost, now that the password is at hand. Never throws: a login does
 * not fail for it, and the next one tries again.
 */
export const refreshHash = async (user: StoredUser, password: string): Promise<void> => {
  try {
    if (!needsRehash(user.password_hash)) return;
    const fresh = await hashPassword(password);
    await replacePasswordHash(user.id, { old: user.password_hash, fresh });
  } catch (error) {
    logError('hash-not-refreshed', describeFault(error));
  }
};
