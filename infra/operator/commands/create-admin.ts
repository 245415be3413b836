import { DomainError } from '../../../lib/errors.ts';
import { config } from '../../../lib/settings.ts';
import { creationDetails } from '../../../lib/users/audit-details.ts';
import type { StoredUser } from '../../../lib/users/items.ts';
import { parseEmail, parseName, parsePassword } from '../../../lib/users/schema.ts';
import { findUserByEmail, insertUser, prepareUser } from '../../../lib/users/store.ts';
import { recordChange, seeAdmins } from '../audit.ts';
import type { Run } from '../command.ts';
import { Failure } from '../failure.ts';
import { readNewPassword } from '../terminal.ts';
import { brokenRule } from '../users.ts';

const exists = () =>
  new Failure(
    'A user with this email address exists already: promote makes this user an admin, with the present password.',
  );

const failureOf = (error: unknown): unknown => {
  if (error instanceof DomainError && error.code === 'EMAIL_REGISTERED') return exists();
  const rule = brokenRule(error);
  return rule === undefined ? error : new Failure(`The ${rule}.`);
};

/** The admin to store, with a new id. */
const prepare = async (givenEmail: string, givenName: string): Promise<StoredUser> => {
  const [email, name] = [parseEmail(givenEmail), parseName(givenName)];
  const { user } = await findUserByEmail(email);
  if (user) throw exists();
  const password = parsePassword(await readNewPassword());
  return prepareUser({ name, email, password }, 'admin', { isVerified: true });
};

export const run: Run = async ({ operator, operands: [email = ''], options }) => {
  try {
    const admin = await prepare(email, String(options.name ?? 'Administrator'));
    const [{ id }, details] = [admin, creationDetails(admin)];
    await recordChange(
      { operator, action: 'CREATE', resource: 'users', resource_id: id, details },
      async () => {
        await insertUser(admin);
        console.log(`Created the admin with id ${id}.`);
        if (config.secondFactor === 'admins') {
          console.log(
            'This admin must enrol a second factor first: at /console, under My account.',
          );
        }
      },
      { check: seeAdmins },
    );
  } catch (error) {
    throw failureOf(error);
  }
};
