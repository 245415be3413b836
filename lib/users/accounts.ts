import { describeFault, logError } from '../log.ts';
import { replacePasswordHash } from './changes.ts';
import type { StoredUser } from './items.ts';
import { hashPassword, needsRehash } from './password.ts';
import type { NewUser } from './schema.ts';
import { allocateUserId, insertUser } from './store.ts';
import type { Role, User } from './user.ts';

/**
 * Creates an account. The id is allocated while the hash is computed.
 * @param prepare makes what the answer needs before anything is stored, so that its failure
 *   leaves nothing behind
 * @throws {DomainError} HASHING_FAULT, EMAIL_REGISTERED, STORAGE_FAULT, and whatever `prepare`
 *   throws
 */
export const createAccount = async <T>(
  { name, email, password }: NewUser,
  role: Role,
  prepare: (user: User) => T | Promise<T>,
): Promise<T> => {
  const [password_hash, id] = await Promise.all([hashPassword(password), allocateUserId()]);
  const user: User = {
    id,
    name,
    email,
    role,
    created_at: new Date().toISOString(),
  };
  const prepared = await prepare(user);
  await insertUser({ ...user, password_hash });
  return prepared;
};

/**
 * Brings a hash up to the current cost and scheme, now that the password is at hand. Never
 * throws: a login does not fail for it, and the next one tries again.
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
