import { DomainError } from '../../../lib/errors.ts';
import { config } from '../../../lib/settings.ts';
import { creationDetails } from '../../../lib/users/audit-details.ts';
import type { StoredUser } from '../../../lib/users/items.ts';
import { parseEmail, parseName, parsePassword } from '../../../lib/users/schema.ts';
import { findUserByEmail, insertUser, prepareUser } from '../../../lib/users/store.ts';
import { recordChange, seeAdmins } from '../audit.ts';
import type { Command, Run } from '../command.ts';
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

const run: Run = async ({ operator, operands: [email = ''], options }) => {
  try {
    const admin = await prepare(email, String(options.name ?? 'Administrator'));
    const [{ id }, details] = [admin, creationDetails(admin)];
    await recordChange(
      { operator, action: 'CREATE', resource_id: id, details },
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

export const createAdmin: Command = {
  summary: 'create a user with the role admin',
  operands: ['EMAIL'],
  options: {
    name: { type: 'string', value: 'NAME', help: "the admin's name (default: Administrator)" },
  },
  help: `The password is asked for twice and not shown; without a terminal, it is the only line of
standard input. It is never an argument, because arguments stay in the history of the shell and
are shown in the list of processes. Use promote for a user who exists already.`,
  examples: [
    'create-admin ada@example.com --stack accounts-production',
    'create-admin ada@example.com --name "Ada Lovelace" --local',
    'create-admin ada@example.com --stack accounts-production < password-file',
  ],
  run,
};
