import { DomainError } from '../../lib/errors.ts';
import { prepareUser } from '../../lib/users/accounts.ts';
import { parseEmail, parseName, parsePassword } from '../../lib/users/schema.ts';
import { findUserByEmail, insertUser } from '../../lib/users/store.ts';
import { recordOperation } from './audit.ts';
import type { Run } from './commands.ts';
import { Failure } from './failure.ts';
import { readNewPassword } from './prompt.ts';
import { brokenRule } from './users.ts';

const exists = () =>
  new Failure(
    'A user with this email address exists already: promote makes it an admin, with the password it has.',
  );

const failureOf = (error: unknown): unknown => {
  if (error instanceof DomainError && error.code === 'EMAIL_REGISTERED') return exists();
  const rule = brokenRule(error);
  return rule === undefined ? error : new Failure(`The ${rule}.`);
};

const create = async (givenEmail: string, givenName: string): Promise<number> => {
  const [email, name] = [parseEmail(givenEmail), parseName(givenName)];
  const { user } = await findUserByEmail(email);
  if (user) throw exists();
  const password = parsePassword(await readNewPassword());
  const admin = await prepareUser({ name, email, password }, 'admin');
  await insertUser(admin);
  return admin.id;
};

export const run: Run = async ({ command, operands: [email = ''], options }) => {
  let id: number;
  try {
    id = await create(email, String(options.name ?? 'Administrator'));
  } catch (error) {
    throw failureOf(error);
  }
  console.log(`Made the admin with id ${id}.`);
  await recordOperation({ command, action: 'CREATE', resource: 'users', resource_id: id });
};
