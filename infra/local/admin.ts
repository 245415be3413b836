import { randomBytes } from 'node:crypto';
import { audited } from '../../lib/audit/record.ts';
import { config } from '../../lib/settings.ts';
import { listAdmins } from '../../lib/users/admins.ts';
import { creationDetails } from '../../lib/users/audit-details.ts';
import { updateUser } from '../../lib/users/changes.ts';
import type { StoredUser } from '../../lib/users/items.ts';
import { hashPassword, verifyPassword } from '../../lib/users/password.ts';
import { parseEmail, parseNewUser, parsePassword } from '../../lib/users/schema.ts';
import { findUserByEmail, insertUser, prepareUser } from '../../lib/users/store.ts';
import type { UserUpdate } from '../../lib/users/update.ts';
import { localAccount } from './folder.ts';

export interface LocalAdmin {
  readonly email: string;
  /** Present when this run has generated it, so that nobody else knows it. */
  readonly password?: string;
}

/** Makes a change and records it in the audit trail as a change by `npm start`. */
const recorded = async (
  action: 'CREATE' | 'UPDATE',
  id: number,
  details: object | undefined,
  change: () => Promise<unknown>,
): Promise<void> => {
  const entry = {
    action,
    resource_id: id,
    user_agent: 'npm start',
    details: { ...details, operator: localAccount() },
  };
  await audited(entry, change);
};

const create = async (email: string, password: string): Promise<void> => {
  const newUser = parseNewUser({ name: 'Administrator', email, password });
  const admin = await prepareUser(newUser, 'admin', { isVerified: true });
  await recorded('CREATE', admin.id, creationDetails(admin), () => insertUser(admin));
};

/** Gives a user the role admin and the password, in one update, unless the user has them. */
const makeAdmin = async (user: StoredUser, password: string): Promise<void> => {
  const isPassword = await verifyPassword(password, user.password_hash);
  const isAdmin = user.role === 'admin';
  const isUnverified = config.emailVerification !== 'off' && !user.email_verified;
  if (isPassword && isAdmin && !isUnverified) return;
  const update: UserUpdate = {
    ...(isUnverified ? { email_verified: true } : {}),
    ...(isPassword ? {} : { password_hash: await hashPassword(password) }),
    ...(isAdmin ? {} : { role: 'admin' }),
  };
  const details = {
    fields: [
      ...(isPassword ? [] : ['password']),
      ...(isAdmin ? [] : ['role']),
      ...(isUnverified ? ['email_verified'] : []),
    ],
    ...(isAdmin ? {} : { role: { from: user.role, to: 'admin' } }),
  };
  await recorded('UPDATE', user.id, details, () => updateUser(user.id, update));
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

/** Creates the configured admin, or makes the user who has that email address the admin. */
const ensureConfigured = async (email: string, password: string): Promise<LocalAdmin> => {
  check(email, password);
  const { user } = await findUserByEmail(email);
  await (user ? makeAdmin(user, password) : create(email, password));
  return { email };
};

/** The email address of an admin whom the settings do not name: one that no user has yet. */
const freeEmail = async (): Promise<string> => {
  const { user } = await findUserByEmail('admin@localhost');
  return user ? `admin-${randomBytes(4).toString('hex')}@localhost` : 'admin@localhost';
};

/**
 * Makes sure that the local service has an admin: the configured one, else an existing one, else a
 * new one with a random password, which is returned only when it is created.
 * @throws {Error} when the configured email or password breaks a rule; DomainError STORAGE_FAULT, HASHING_FAULT
 */
export const ensureAdmin = async (
  configured: { readonly email: string; readonly password: string } | undefined,
): Promise<LocalAdmin> => {
  if (configured) return ensureConfigured(configured.email, configured.password);
  const [admin] = await listAdmins();
  if (admin) return { email: admin.email };
  const email = await freeEmail();
  const password = randomBytes(16).toString('base64url');
  await create(email, password);
  return { email, password };
};
