import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { recordIntention } from '../audit.ts';
import type { Command, Run } from '../command.ts';
import { Failure } from '../failure.ts';

const run: Run = async ({ operator }) => {
  const { EDGE_SECRET_ID: SecretId } = process.env;
  if (!SecretId) {
    throw new Failure('This service is not behind CloudFront: see the setting edge.');
  }
  await recordIntention({ operator, action: 'READ', resource: 'edge-header' });
  const client = new SecretsManagerClient({ maxAttempts: 2 });
  const command = new GetSecretValueCommand({ SecretId });
  const { SecretString = '' } = await client.send(command).finally(() => client.destroy());
  console.log(SecretString.trim().split(/\s+/)[0]);
};

export const edgeHeader: Command = {
  summary: 'print the value of the header that CloudFront adds',
  help: `For the distribution in front of a deployed service (edge=cloudfront), which adds the header
x-origin-verify with this value to each request. Functions refuse requests without it. A person
who knows the value can claim any source address: keep it as you keep a password.`,
  run,
};
