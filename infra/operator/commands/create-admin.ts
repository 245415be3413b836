import { config } from '../../../lib/ground/settings.ts';
import { parseField } from '../../../lib/users/fields.ts';
import { findUserByEmail } from '../../../lib/users/store.ts';
import { adminChange } from '../../local/admin.ts';
import { recordChange } from '../audit.ts';
import type { Command, Run } from '../command.ts';
import { readNewPassword } from '../terminal.ts';

const run: Run = async ({ operator, operands: [givenEmail], options }) => {
  const email = parseField('email', givenEmail);
  const name = parseField('name', options.name ?? 'Administrator');
  const user = await findUserByEmail(email);
  const password = parseField('password', await readNewPassword());
  const { make, on: resource_id, ...change } = await adminChange({ name, email, password }, user);
  const report = () => {
    console.log(
      change.action === 'CREATE'
        ? `Created the admin with id ${resource_id}.`
        : `User ${resource_id} is an admin, with this password.`,
    );
    if (config.secondFactor === 'admins') {
      console.log('This admin must enrol a second factor first: at /console, under My account.');
    }
  };
  await recordChange({ operator, resource_id, ...change }, () => make().then(report), {
    check: 'Run the command again: the outcome is the same.',
  });
};

export const createAdmin: Command = {
  summary: 'create an admin, or make the user with this address one',
  operands: ['email'],
  options: { '--name <name>': 'the name of a new user (default: Administrator)' },
  help: `It is also the way back in for an admin who cannot log in. A user who already has the address becomes an admin with the new password, a verified address, no second factor and no identity. A suspension is lifted, and all sessions of the user are ended.

The password is asked for twice and not shown; without a terminal, it is the only line of standard input. It must not be an argument, because arguments stay in the history of the shell and are shown in the list of processes.`,
  examples: [
    'create-admin ada@example.com --name "Ada Lovelace" --local',
    'create-admin ada@example.com --stack accounts-production < password-file',
  ],
  run,
};
