import { ArnFormat, Stack } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { type IKey, Key } from 'aws-cdk-lib/aws-kms';
import type { Construct } from 'constructs';
import type { DeploymentSettings } from '../deployment-settings.ts';
import { removalOf } from './kept.ts';
import { nameOf } from './name.ts';
import { allowing } from './policy.ts';
import { placeholder } from './table.ts';

/**
 * The key that encrypts the secrets of second factors. In production it is kept when the setting is turned off, or the
 * stack is deleted. Without the key, users with a second factor could not log in after the setting is turned on again.
 */
export function factorKeyOf(scope: Construct, settings: DeploymentSettings): IKey | undefined {
  if (settings.secondFactor === 'off') return undefined;
  const description = `Encrypts the secrets of second factors of ${nameOf(scope)}`;
  const arn = settings.secondFactorKeyArn;
  return keyOf(scope, 'SecondFactorKey', settings, { description, arn });
}

/**
 * The key that encrypts tables, secrets, queues, the topic of alarms, logs and the variables of functions, if keys of
 * AWS do not encrypt them. In production it is kept, because without it tables, backups and logs that outlive the stack
 * would be lost. It does not encrypt the sealed archive: whoever deletes a key makes everything that it encrypts
 * unreadable, even locked objects.
 */
export function dataKeyOf(scope: Construct, settings: DeploymentSettings): IKey | undefined {
  if (settings.encryption === 'aws') return undefined;
  const description = `Encrypts the data of ${nameOf(scope)}`;
  const key = keyOf(scope, 'DataKey', settings, { description, arn: settings.encryptionKeyArn });
  const stack = Stack.of(scope);
  const logGroups = stack.formatArn({
    service: 'logs',
    resource: 'log-group',
    resourceName: `${stack.stackName}-*`,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
  key.addToResourcePolicy(
    new PolicyStatement({
      principals: [new ServicePrincipal(`logs.${stack.region}.amazonaws.com`)],
      actions: [
        'kms:Encrypt',
        'kms:Decrypt',
        'kms:ReEncrypt*',
        'kms:GenerateDataKey*',
        'kms:DescribeKey',
      ],
      resources: ['*'],
      conditions: { ArnLike: { 'kms:EncryptionContext:aws:logs:arn': logGroups } },
    }),
  );
  return key;
}

/**
 * The actions on the key that services of AWS need to serve a function; the actions for DynamoDB are in its
 * documentation.
 */
const actionsOf = {
  dynamodb: [
    'kms:Encrypt',
    'kms:Decrypt',
    'kms:ReEncryptFrom',
    'kms:ReEncryptTo',
    'kms:GenerateDataKey',
    'kms:GenerateDataKeyWithoutPlaintext',
    'kms:DescribeKey',
  ],
  secretsmanager: ['kms:Decrypt'],
  sqs: ['kms:Decrypt', 'kms:GenerateDataKey'],
} as const;

/** Allows a function to read and write data that services encrypt with the key, but only through these services. */
export function usingKey(
  key: IKey,
  services: Readonly<Record<keyof typeof actionsOf, boolean>>,
): PolicyStatement[] {
  const { region } = Stack.of(key);
  const used = Object.entries(actionsOf).filter(
    ([name]) => services[name as keyof typeof services],
  );
  return used.map(([service, actions]) =>
    allowing(actions, key.keyArn, {
      StringEquals: { 'kms:ViaService': `${service}.${region}.amazonaws.com` },
    }),
  );
}

/** Creates a key, or uses the key of the ARN. A stack that was given a key never creates its own key instead. */
function keyOf(
  scope: Construct,
  id: string,
  settings: DeploymentSettings,
  { description, arn }: { description: string; arn: string | undefined },
): IKey {
  if (arn) {
    const key = Key.fromKeyArn(scope, id, arn);
    placeholder(key);
    return key;
  }
  return new Key(scope, id, {
    description,
    enableKeyRotation: true,
    removalPolicy: removalOf(settings),
  });
}
