import { PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { readSecret, type SecretVersion } from '../../../lib/keys/secret-source.ts';
import { activationDelay, retirementDelay } from '../../../lib/keys/signing-secret.ts';
import { writePrivately } from '../../local/data-folder.ts';
import { makeSecretVersion } from '../../local/secrets.ts';
import { recordChange } from '../audit.ts';
import type { Command, Run } from '../command.ts';
import { Failure } from '../failure.ts';
import { shownTime } from '../terminal.ts';

/** The advice if it is unknown whether the secret was rotated. */
const tryWithoutForce =
  'Run the command again without --force: it is refused if the secret was rotated.';
const runForcedAgain =
  'Run the command again with --force until it succeeds: one rotation too many logs everyone out, and does no other harm.';

const run: Run = async ({ operator, options }) => {
  const { JWT_SECRET_FILE, JWT_SECRET_ID } = process.env;
  if (!JWT_SECRET_FILE && !JWT_SECRET_ID) {
    throw new Failure(
      'The signing secret is not in the data folder: this service reads it from JWT_SECRET. Set this variable to another value and restart the service; everyone has to log in again.',
    );
  }
  const { current, previous } = await readSecret();
  const isRecent = Date.now() - current.createdAt.getTime() < retirementDelay;
  const retiresTokens = previous !== undefined && isRecent;
  if (retiresTokens && !options.force) {
    const time = shownTime(current.createdAt.getTime() + retirementDelay);
    throw new Failure(
      `The secret was rotated within the last day: tokens of the version before it may still be in use, and would be refused. Rotate it after ${time}, or, after a leak, now with --force.`,
    );
  }

  const fresh = makeSecretVersion();
  await recordChange(
    { operator, action: 'UPDATE', resource: 'signing-secret', resource_id: fresh.id },
    async () => {
      await store(fresh, current);
      report(fresh, { retiresTokens });
    },
    { check: options.force ? runForcedAgain : tryWithoutForce },
  );
};

export const rotateSecret: Command = {
  summary: 'replace the secret that signs tokens, without logging anyone out',
  options: { '--force': 'rotate again within a day of the last rotation' },
  help: `The new secret signs tokens from two minutes on, when all running functions have read it.
Tokens of the old secret are accepted until they expire; only then can it be rotated again.

After a leak, run this command twice, the second time with --force: within a minute tokens of both
older secrets are refused. Everyone has to log in again, unless sessions can be refreshed.`,
  run,
};

type NewVersion = ReturnType<typeof makeSecretVersion>;

/** Milliseconds that the request to store the new secret may take. */
const requestTimeout = 5000;

async function store(fresh: NewVersion, current: SecretVersion): Promise<void> {
  const { JWT_SECRET_FILE: file, JWT_SECRET_ID: SecretId } = process.env;
  if (file) return writePrivately(file, JSON.stringify([fresh, current]));
  const requestHandler = { requestTimeout, throwOnRequestTimeout: true };
  const client = new SecretsManagerClient({ requestHandler });
  const { id, value } = fresh;
  // The new version becomes AWSCURRENT, and the version before it becomes AWSPREVIOUS.
  const put = { SecretId, SecretString: value, ClientRequestToken: id };
  await client.send(new PutSecretValueCommand(put)).finally(() => client.destroy());
}

function report({ createdAt }: NewVersion, { retiresTokens }: { retiresTokens: boolean }): void {
  const rotatedAt = Date.parse(createdAt);
  console.log(`Rotated at ${shownTime(rotatedAt)}.
The new secret signs from ${shownTime(rotatedAt + activationDelay)} on; until then the previous one does.
Tokens of the previous secret are valid until they expire, ${shownTime(rotatedAt + retirementDelay)} at the latest.
From then on the secret can be rotated again.`);
  if (retiresTokens) {
    console.log(
      'Tokens of the secret before the previous one are refused within a minute from now.',
    );
  }
}
