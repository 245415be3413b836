import { ArnFormat, RemovalPolicy, type Stack } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { DeploymentSettings } from '../../deployment-settings.ts';

/**
 * Creates an encrypted topic that mails alarms to the address in the settings, if there is one. The
 * recipient must confirm the subscription. The topic has a key of its own, because CloudWatch may not
 * use the key that AWS manages for SNS.
 */
export const createAlarmTopic = (
  stack: Stack,
  { alarmEmail }: DeploymentSettings,
): Topic | undefined => {
  if (!alarmEmail) return undefined;
  const key = new Key(stack, 'AlarmTopicKey', {
    description: `Alarms of ${stack.stackName}`,
    enableKeyRotation: true,
    removalPolicy: RemovalPolicy.DESTROY,
  });
  const topic = new Topic(stack, 'AlarmTopic', { masterKey: key, enforceSSL: true });
  topic.addSubscription(new EmailSubscription(alarmEmail));
  const alarmsOfStack = {
    principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
    conditions: {
      ArnLike: {
        'aws:SourceArn': stack.formatArn({
          service: 'cloudwatch',
          resource: 'alarm',
          resourceName: `${stack.stackName}-*`,
          arnFormat: ArnFormat.COLON_RESOURCE_NAME,
        }),
      },
    },
  };
  topic.addToResourcePolicy(
    new PolicyStatement({
      ...alarmsOfStack,
      actions: ['sns:Publish'],
      resources: [topic.topicArn],
    }),
  );
  key.addToResourcePolicy(
    new PolicyStatement({
      ...alarmsOfStack,
      actions: ['kms:Decrypt', 'kms:GenerateDataKey*'],
      resources: ['*'],
    }),
  );
  return topic;
};
