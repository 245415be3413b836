import { Duration, Validations } from 'aws-cdk-lib';
import type { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { allowing } from './policy.ts';

/** The queue of the messages or records that a function could not send, with the errors. */
export function createUnsent(scope: Construct, dataKey: IKey | undefined): Queue {
  const queue = new Queue(scope, 'Unsent', {
    ...(dataKey
      ? { encryption: QueueEncryption.KMS, encryptionMasterKey: dataKey }
      : { encryption: QueueEncryption.SQS_MANAGED }),
    enforceSSL: true,
    retentionPeriod: Duration.days(14),
  });
  Validations.of(queue).acknowledge({
    id: 'AwsSolutions-SQS3',
    reason: 'This queue is itself the dead-letter queue of a function.',
  });
  return queue;
}

/**
 * Makes a queue a destination for Lambda. The CDK's own destinations would allow a function to do more than send to the
 * queue.
 */
export function destinationOf({ queueArn }: Queue) {
  return { bind: () => ({ destination: queueArn }) };
}

export function sendingTo({ queueArn }: Queue): PolicyStatement {
  return allowing('sqs:SendMessage', queueArn);
}
