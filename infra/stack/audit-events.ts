import { Duration, type Stack } from 'aws-cdk-lib';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { EventBus } from 'aws-cdk-lib/aws-events';
import { StartingPosition } from 'aws-cdk-lib/aws-lambda';
import { DynamoEventSource, SqsDlq } from 'aws-cdk-lib/aws-lambda-event-sources';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { variableOf } from '../../lib/ground/settings.ts';
import type { DeploymentSettings } from '../deployment-settings.ts';
import { auditPublisher } from '../uses.ts';
import { createUnsent, ServiceFunction, type SharedFunctionProps, withoutKey } from './function.ts';

export interface AuditEvents {
  readonly publisher: ServiceFunction;
  readonly refused: Queue;
  readonly outputs: Readonly<Record<string, string>>;
}

/** The publisher of audit entries on a bus, where the settings say so (infra/runbooks.md, Events). */
export const createAuditEvents = (
  stack: Stack,
  { events }: DeploymentSettings,
  shared: SharedFunctionProps,
): AuditEvents | undefined => {
  if (events === 'off') return undefined;
  const bus = new EventBus(stack, 'EventBus', { eventBusName: stack.stackName });
  const definition = auditPublisher;
  const publisher = new ServiceFunction(stack, 'PublishAudit', { ...shared, definition });
  const refused = createUnsent(publisher, shared.dataKey);
  const { lambda } = publisher;
  lambda.addEnvironment(
    variableOf('eventsUrl'),
    `https://events.${stack.region}.${stack.urlSuffix}/`,
  );
  lambda.addEnvironment(variableOf('eventBus'), bus.eventBusName);
  lambda.addEnvironment(variableOf('eventSource'), stack.stackName);
  lambda.addEnvironment(variableOf('refusedEventsQueueUrl'), refused.queueUrl);
  bus.grantPutEventsTo(lambda);
  lambda.addEventSource(
    new DynamoEventSource(shared.tables.audit as ITable, {
      startingPosition: StartingPosition.TRIM_HORIZON,
      reportBatchItemFailures: true,
      bisectBatchOnError: true,
      // As long as a stream keeps its records.
      maxRecordAge: Duration.hours(24),
      onFailure: new SqsDlq(withoutKey(refused)),
    }),
  );
  const outputs = { EventBusName: bus.eventBusName, RefusedEventsQueueUrl: refused.queueUrl };
  return { publisher, refused, outputs };
};
