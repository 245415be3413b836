import { ArnFormat, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { type IKey, Key } from 'aws-cdk-lib/aws-kms';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Construct } from 'constructs';
import type { DeploymentSettings } from '../../deployment-settings.ts';
import { nameOf } from '../name.ts';

export type AlarmTopics = ReturnType<typeof alarmTopicsOf>;

/**
 * The topics that the settings request: a new topic that sends mails, and an existing topic.
 * @returns the topics that are notified when an alarm is raised, and the topics that are notified when it is over
 */
export function alarmTopicsOf(
  scope: Construct,
  settings: DeploymentSettings,
  dataKey: IKey | undefined,
) {
  const { alarmTopicArn: arn } = settings;
  const own = createAlarmTopic(scope, settings, dataKey);
  const over = arn ? [Topic.fromTopicArn(scope, 'GivenAlarmTopic', arn)] : [];
  return { raised: own ? [own, ...over] : over, over };
}

/**
 * Creates an encrypted topic that mails alarms to the address in the settings, if there is one. The recipient must
 * confirm the subscription. Unless there is a key for all data, the topic has a key of its own, because CloudWatch may
 * not use the key that AWS manages for SNS.
 */
function createAlarmTopic(
  scope: Construct,
  { alarmEmail }: DeploymentSettings,
  dataKey: IKey | undefined,
): Topic | undefined {
  if (!alarmEmail) return undefined;
  const key =
    dataKey ??
    new Key(scope, 'AlarmTopicKey', {
      description: `Alarms of ${nameOf(scope)}`,
      enableKeyRotation: true,
      removalPolicy: RemovalPolicy.DESTROY,
    });
  const topic = new Topic(scope, 'AlarmTopic', { masterKey: key, enforceSSL: true });
  topic.addSubscription(new EmailSubscription(alarmEmail));
  const alarms = Stack.of(scope).formatArn({
    service: 'cloudwatch',
    resource: 'alarm',
    resourceName: `${nameOf(scope)}-*`,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
  const allowAlarms = (actions: string[], resource: string) =>
    new PolicyStatement({
      principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
      actions,
      resources: [resource],
      conditions: { ArnLike: { 'aws:SourceArn': alarms } },
    });
  topic.addToResourcePolicy(allowAlarms(['sns:Publish'], topic.topicArn));
  key.addToResourcePolicy(allowAlarms(['kms:Decrypt', 'kms:GenerateDataKey*'], '*'));
  return topic;
}
