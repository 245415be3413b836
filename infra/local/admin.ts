import { randomBytes, randomUUID } from 'node:crypto';
import { makeEntry } from '../../lib/audit/entry.ts';
import { logUnwritten, writeEntry } from '../../lib/audit/record.ts';
import { prepareUser } from '../../lib/users/accounts.ts';
import { updateUser } from '../../lib/users/changes.ts';
import type { StoredUser } from '../../lib/users/items.ts';
import { hashPassword, verifyPassword } from '../../lib/users/password.ts';
import { parseEmail, parseNewUser, parsePassword } from '../../lib/users/schema.ts';
import { findUserByEmail, insertUser } from '../../lib/users/store.ts';
import { localAccount } from './account.ts';

export interface LocalAdmin {
  readonly email: string;
  /** The one to tell, because nobody else knows it: made at random by this run. */
  readonly password?: string;
}

/** Records what a start did; an entry that cannot be written is logged whole, to be replayed. */
const recordStart = async (action: 'CREATE' | 'UPDATE', id: number, details = {}) => {
  const entry = makeEntry({
    action,
    resource: 'users',
    resource_id: id,
    user_agent: 'npm start',
    result: 'SUCCESS',
    details: { ...details, operator: localAccount() },
  });
  const writeId = randomUUID();
  try {
    await writeEntry(entry, { writeId });
  } catch (error) {
    logUnwritten(error, writeId, entry);
  }
};

const create = async (email: string, password: string): Promise<void> => {
  const newUser = parseNewUser({ name: 'Administrator', email, password });
  const admin = await prepareUser(newUser, 'admin');
  await insertUser(admin);
  await recordStart('CREATE', admin.id);
};

/** Gives a user, in one step, what it lacks of the role and the password. */
const bringInLine = async (user: StoredUser, password: string): Promise<void> => {
  const isPassword = await verifyPassword(password, user.password_hash);
  const isAdmin = user.role === 'admin';
  if (isPassword && isAdmin) return;
  await updateUser(user.id, {
    ...(isPassword ? {} : { password_hash: await hashPassword(password) }),
    ...(isAdmin ? {} : { role: 'admin' }),
  });
  await recordStart('UPDATE', user.id, {
    fields: [...(isPassword ? [] : ['password']), ...(isAdmin ? [] : ['role'])],
    ...(isAdmin ? {} : { role: { from: user.role, to: 'admin' } }),
  });
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
