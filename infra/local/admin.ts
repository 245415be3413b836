import { randomBytes } from 'node:crypto';
import { prepareUser } from '../../lib/users/accounts.ts';
import { updateUser } from '../../lib/users/changes.ts';
import { hashPassword, verifyPassword } from '../../lib/users/password.ts';
import { parseEmail, parseNewUser, parsePassword } from '../../lib/users/schema.ts';
import { findUserByEmail, insertUser } from '../../lib/users/store.ts';

export interface LocalAdmin {
  readonly email: string;
  /** The one to tell, because nobody else knows it: made at random by this run. */
  readonly password?: string;
}

const create = async (email: string, password: string): Promise<void> => {
  const newUser = parseNewUser({ name: 'Administrator', email, password });
  await insertUser(await prepareUser(newUser, 'admin'));
};

/** @throws {Error} naming the variable and the rule that it breaks */
const check = (email: string, password: string): void => {
  try {
    parseEmail(email);
    parsePassword(password);
  } catch (error) {
    const { message } = error as Error;
    throw new Error(message.replace(/^\w+/, (field) => `ADMIN_${field.toUpperCase()}`));
  }
};

/** Makes the configured admin, or brings the user of that address in line with the settings. */
const ensureConfigured = async (email: string, password: string): Promise<LocalAdmin> => {
  check(email, password);
  const { user } = await findUserByEmail(email);
  if (!user) {
    await create(email, password);
    return { email };
  }
  if (user.role !== 'admin') await updateUser(user.id, { role: 'admin' });
  if (!(await verifyPassword(password, user.password_hash))) {
    await updateUser(user.id, { password_hash: await hashPassword(password) });
  }
  return { email };
};

const defaultEmail = 'admin@localhost';

/**
 * Sees to it that the local service has an admin: the configured one, or one with a random
 * password that is told only when it is made.
 * @throws {Error} when the configured one breaks a rule; DomainError STORAGE_FAULT, HASHING_FAULT
 */
export const ensureAdmin = async (
  configured: { readonly email: string; readonly password: string } | undefined,
): Promise<LocalAdmin> => {
  if (configured) return ensureConfigured(configured.email, configured.password);
  const email = defaultEmail;
  const { user } = await findUserByEmail(email);
  if (user) return { email };
  const password = randomBytes(16).toString('base64url');
  await create(email, password);
  return { email, password };
};
