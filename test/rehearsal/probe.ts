/** A temporary function that has the role of a handler, and makes calls as this role. */
import * as dynamodb from '@aws-sdk/client-dynamodb';
import * as kms from '@aws-sdk/client-kms';
import * as s3 from '@aws-sdk/client-s3';
import * as secrets from '@aws-sdk/client-secrets-manager';

/** A call by the name of its command, such as `GetItem`. */
export interface ProbeCall {
  readonly service: 'dynamodb' | 'kms' | 's3' | 'secrets';
  readonly command: string;
  readonly input: object;
}

const services = {
  dynamodb: [dynamodb, new dynamodb.DynamoDBClient()],
  kms: [kms, new kms.KMSClient()],
  s3: [s3, new s3.S3Client()],
  secrets: [secrets, new secrets.SecretsManagerClient()],
} as const;

/** @returns of each call the name of its error, or `done` */
export const handler = async (calls: readonly ProbeCall[]): Promise<readonly string[]> => {
  const outcomes: string[] = [];
  for (const { service, command, input } of calls) {
    const [commands, client] = services[service];
    const Command = commands[`${command}Command` as never] as new (input: object) => never;
    const outcome = await (client.send as (sent: never) => Promise<unknown>)(
      new Command(input),
    ).then(
      () => 'done',
      ({ name }: Error) => name,
    );
    outcomes.push(outcome);
  }
  return outcomes;
};
