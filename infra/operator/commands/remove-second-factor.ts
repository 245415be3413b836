import { removeFactor } from '../../../lib/auth/factor-changes.ts';
import { DomainError } from '../../../lib/errors.ts';
import { factorRemoved } from '../../../lib/second-factor/factor.ts';
import { recordChange } from '../audit.ts';
import type { Command, Run } from '../command.ts';
import { Failure } from '../failure.ts';
import { requireUser } from '../users.ts';

const none = () => new Failure('This user has no second factor.');

const remove = async (id: number): Promise<void> => {
  try {
    await removeFactor(id);
  } catch (error) {
    throw error instanceof DomainError && error.code === 'SECOND_FACTOR_NOT_FOUND' ? none() : error;
  }
  console.log(`The second factor of user ${id} is removed, and the sessions are ended.`);
};

const run: Run = async ({ operator, operands: [email = ''] }) => {
  const { id, factor_secret } = await requireUser(email);
  if (factor_secret === undefined) throw none();
  await recordChange(
    { operator, action: 'UPDATE', resource_id: id, details: factorRemoved },
    () => remove(id),
    { check: 'Run the command again: it says whether there still is one.' },
  );
};

export const removeSecondFactor: Command = {
  summary: 'remove the second factor of a user',
  operands: ['EMAIL'],
  help: `For a user who has lost both the app and the recovery codes: make sure who asks. The password
stays as it is, all sessions of the user are ended, and logins ask for no code any more.`,
  examples: [
    'remove-second-factor ada@example.com --stack accounts-production',
    'remove-second-factor ada@example.com --local',
  ],
  run,
};
