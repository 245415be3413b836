import { hashPassword } from './password.ts';
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
