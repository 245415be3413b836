/** The admins that `npm start` and the operator's command `create-admin` make. */
import { randomBytes } from 'node:crypto';
import { accountReclaimed, otherWaysRemoved, passwordSet } from '../../lib/accounts/ways-in.ts';
import { recording } from '../../lib/audit/record.ts';
import { DomainError } from '../../lib/ground/errors.ts';
import { codeFactorRemoved } from '../../lib/options/second-factor/state.ts';
import { isUnverified, verifiedAddress } from '../../lib/options/verified-addresses/address.ts';
import { listAdmins } from '../../lib/users/admins.ts';
import { type NewUser, parseField } from '../../lib/users/fields.ts';
import type { StoredUser } from '../../lib/users/item.ts';
import { hashPassword, matchesHash } from '../../lib/users/password.ts';
import { findUserByEmail, insertUser, prepareUser } from '../../lib/users/store.ts';
import { creationDetails, isSuspended } from '../../lib/users/user.ts';
import { rewriteUser, writeUser } from '../../lib/users/write.ts';
import { localAccount } from './data-folder.ts';

export interface LocalAdmin {
  readonly email: string;
  /** The password, if this run has generated it, so that nobody else knows it. */
  readonly password?: string;
}

const name = 'Administrator';

/**
 * Makes sure that the local service has an admin: the configured admin, or else an existing admin, or else a new admin
 * with a random password, which is returned only by the run that creates it.
 * @throws {Error} when the configured email or password breaks a rule; DomainError STORAGE_FAULT, HASHING_FAULT
 */
export async function ensureAdmin(
  configured: Omit<NewUser, 'name'> | undefined,
): Promise<LocalAdmin> {
  if (configured) {
    await ensureConfigured(parse(configured));
    return { email: configured.email };
  }
  const [admin] = await listAdmins();
  if (admin) return { email: admin.email };
  const [email, password] = [await freeEmail(), randomBytes(16).toString('base64url')];
  await makeAdmin({ name, email, password });
  return { email, password };
}

/**
 * The change that makes an admin with an account: a new user, or the user who already has the address. That user then
 * has this password and a verified address, but no second factor, identity, suspension or session.
 * @returns the function that makes it, and what the audit trail records
 * @throws {DomainError} HASHING_FAULT, STORAGE_FAULT
 */
export async function adminChange(account: NewUser, user: StoredUser | undefined) {
  if (!user) {
    const admin = { ...(await prepareUser(account, 'admin')), ...verifiedAddress };
    const details = creationDetails(admin);
    const make = () => insertUser(admin);
    return { action: 'CREATE', on: admin.id, details, make } as const;
  }
  const hash = await hashPassword(account.password);
  const { id, role } = user;
  const details = {
    fields: [
      'password',
      ...(role === 'admin' ? [] : ['role']),
      ...(user.email_verified ? [] : Object.keys(verifiedAddress)),
      ...(user.factor_secret ? ['second_factor'] : []),
      ...otherWaysRemoved(user).ways,
    ],
    ...(role === 'admin' ? {} : { role: { from: role, to: 'admin' } }),
    ...(user.factor_secret ? { second_factor: 'removed' } : {}),
    ...(isSuspended(user) ? { suspended: false } : {}),
  };
  return { action: 'UPDATE', on: id, details, make: () => reinstate(user, hash) } as const;
}

async function ensureConfigured(account: NewUser): Promise<void> {
  const user = await findUserByEmail(account.email);
  const isDone =
    user?.role === 'admin' &&
    !isSuspended(user) &&
    !isUnverified(user) &&
    (await matchesHash(account.password, user.password_hash));
  if (!isDone) await makeAdmin(account, user);
}

async function makeAdmin(account: NewUser, user?: StoredUser): Promise<void> {
  const { make, details, ...change } = await adminChange(account, user);
  const operator = localAccount();
  const source = { user_agent: 'npm start' };
  await recording({ ...change, source, details: { ...details, operator } }, make);
}

/** @throws {Error} naming the variable and the rule that it breaks */
function parse({ email, password }: Omit<NewUser, 'name'>): NewUser {
  try {
    return { name, email: parseField('email', email), password: parseField('password', password) };
  } catch (error) {
    const { message } = error as Error;
    throw new Error(message.replace(/^\w+/, (field) => `ADMIN_${field.toUpperCase()}`));
  }
}

/** The email address of an admin whom the settings do not name: an address that no user has yet. */
async function freeEmail(): Promise<string> {
  const user = await findUserByEmail('admin@localhost');
  return user ? `admin-${randomBytes(4).toString('hex')}@localhost` : 'admin@localhost';
}

function reinstate({ id, email }: StoredUser, password_hash: string) {
  return rewriteUser(id, async (user) => {
    if (user.email !== email) throw new DomainError('USER_NOT_FOUND');
    const admin = { role: 'admin', ...verifiedAddress, suspended_at: undefined } as const;
    await writeUser(
      user,
      { fields: admin },
      codeFactorRemoved,
      passwordSet(password_hash),
      accountReclaimed(user, 'machine'),
    );
  });
}
