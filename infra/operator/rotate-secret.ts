import { PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { readSecret, type SecretVersion } from '../../lib/tokens/secret-source.ts';
import { activationDelay, retirementDelay } from '../../lib/tokens/signing-secret.ts';
import { writePrivately } from '../local/running.ts';
import { makeSecretVersion } from '../local/settings.ts';
import { recordOperation } from './audit.ts';
import type { Run } from './commands.ts';
import { Failure } from './failure.ts';
import type { Target } from './target.ts';

type Stored = NonNullable<Target['signingSecret']>;
type NewVersion = ReturnType<typeof makeSecretVersion>;

const store = async (to: Stored, fresh: NewVersion, current: SecretVersion): Promise<void> => {
  if ('file' in to) return writePrivately(to.file, JSON.stringify([fresh, current]));
  const client = new SecretsManagerClient();
  const { id, value } = fresh;
  // Becomes AWSCURRENT, and the one before AWSPREVIOUS.
  await client.send(
    new PutSecretValueCommand({ SecretId: to.arn, SecretString: value, ClientRequestToken: id }),
  );
  client.destroy();
};

const after = (date: Date, delay: number): string =>
  new Date(date.getTime() + delay).toISOString().replace(/\.\d+/, '');

const tooEarly = ({ createdAt }: SecretVersion): Failure =>
  new Failure(
    `The secret was rotated within the last day: tokens of the version before it may still be in use, and would be refused. Rotate after ${after(createdAt, retirementDelay)}, or, after a leak, with --force now.`,
  );

export const run: Run = async ({ command, options, target: { signingSecret } }) => {
  if (!signingSecret) {
    throw new Failure(
      'The signing secret is not kept in the data folder: this service has it from JWT_SECRET. Set that to another value and start it again; everyone has to log in anew.',
    );
  }
  const { current, previous } = await readSecret();
  const retiresTokens = previous && Date.now() - current.createdAt.getTime() < retirementDelay;
  if (retiresTokens && !options.force) throw tooEarly(current);

  const fresh = makeSecretVersion();
  await store(signingSecret, fresh, current);
  const rotatedAt = new Date(fresh.createdAt);
  console.log(`Rotated at ${after(rotatedAt, 0)}.
The new secret signs from ${after(rotatedAt, activationDelay)} on; until then the one before does.
Tokens of the one before are good until they expire, ${after(rotatedAt, retirementDelay)} at the latest.
From then on the secret can be rotated again.`);
  if (retiresTokens) {
    console.log('Tokens of the version before those two are refused within a minute from now.');
  }
  await recordOperation({
    command,
    action: 'UPDATE',
    resource: 'signing-secret',
    resource_id: fresh.id,
  });
};
