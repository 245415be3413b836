import { randomBytes } from 'node:crypto';
import { createAccount } from '../../lib/users/accounts.ts';
import { hashPassword, verifyPassword } from '../../lib/users/password.ts';
import { parseNewUser } from '../../lib/users/schema.ts';
import { findUserByEmail, updateUser } from '../../lib/users/store.ts';

export interface LocalAdmin {
  readonly email: string;
  /** Absent when it was made by an earlier run, which printed it. */
  readonly password?: string;
}

const create = async (email: string, password: string): Promise<LocalAdmin> => {
  const user = parseNewUser({ name: 'Administrator', email, password });
  await createAccount(user, 'admin', () => undefined);
  return { email, password };
};

/** Makes the configured admin, or brings the user of that address in line with the settings. */
const ensureConfigured = async (email: string, password: string): Promise<LocalAdmin> => {
  const { user } = await findUserByEmail(email);
  if (!user) return create(email, password);
  if (user.role !== 'admin') await updateUser(user.id, { role: 'admin' });
  if (!(await verifyPassword(password, user.password_hash))) {
    await updateUser(user.id, { password_hash: await hashPassword(password) });
  }
  return { email, password };
};

const defaultEmail = 'admin@localhost';

/**
 * Sees to it that the local service has an admin: the configured one, or one with a random
 * password that is told only when it is made.
 */
export const ensureAdmin = async (
  configured: { readonly email: string; readonly password: string } | undefined,
): Promise<LocalAdmin> => {
  if (configured) return ensureConfigured(configured.email, configured.password);
  const email = defaultEmail;
  const { user } = await findUserByEmail(email);
  if (user) return { email };
  return create(email, randomBytes(12).toString('base64url'));
};
