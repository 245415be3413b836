import { randomBytes } from 'node:crypto';
import { record, recordingFaults } from '../../lib/audit/record.ts';
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
  /** The one to tell, because nobody else knows it: made at random by this run. */
  readonly password?: string;
}

/** Makes a change, and records it as one of a start. */
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
  await recordingFaults(entry, change);
  await record({ ...entry, result: 'SUCCESS' });
};

const create = async (email: string, password: string): Promise<void> => {
  const newUser = parseNewUser({ name: 'Administrator', email, password });
  const admin = await prepareUser(newUser, 'admin');
  await recorded('CREATE', admin.id, creationDetails(admin), () => insertUser(admin));
};

/** Gives a user, in one step, what it lacks of the role and the password. */
const bringInLine = async (user: StoredUser, password: string): Promise<void> => {
  const isPassword = await verifyPassword(password, user.password_hash);
  const isAdmin = user.role === 'admin';
  if (isPassword && isAdmin) return;
  const update: UserUpdate = {
    ...(isPassword ? {} : { password_hash: await hashPassword(password) }),
    ...(isAdmin ? {} : { role: 'admin' }),
  };
  const details = {
    fields: [...(isPassword ? [] : ['password']), ...(isAdmin ? [] : ['role'])],
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

/** Makes the configured admin, or brings the user of that address in line with the settings. */
const ensureConfigured = async (email: string, password: string): Promise<LocalAdmin> => {
  check(email, password);
  const { user } = await findUserByEmail(email);
  await (user ? bringInLine(user, password) : create(email, password));
  return { email };
};

/** The address of an admin that the settings do not name; another one where a user has it. */
const freeEmail = async (): Promise<string> => {
  const { user } = await findUserByEmail('admin@localhost');
  return user ? `admin-${randomBytes(4).toString('hex')}@localhost` : 'admin@localhost';
};

/**
 * Sees to it that the local service has an admin: the configured one, else the one that there is,
 * else a new one with a random password that is told only when it is made.
 * @throws {Error} when the configured one breaks a rule; DomainError STORAGE_FAULT, HASHING_FAULT
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
