import { Duration, Stack } from 'aws-cdk-lib';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { EventBus } from 'aws-cdk-lib/aws-events';
import { StartingPosition } from 'aws-cdk-lib/aws-lambda';
import { DynamoEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import type { Construct } from 'constructs';
import { variableOf } from '../../lib/ground/setting.ts';
import type { DeploymentSettings } from '../deployment-settings.ts';
import { auditPublisher } from '../uses.ts';
import { ServiceFunction, type SharedFunctionProps } from './function.ts';
import { nameOf } from './name.ts';
import { createUnsent, destinationOf, sendingTo } from './unsent-queue.ts';

export type AuditEvents = NonNullable<ReturnType<typeof createAuditEvents>>;

/**
 * Creates the function that publishes audit entries on a bus, if the settings turn it on (infra/runbooks.md, Events).
 */
export function createAuditEvents(
  scope: Construct,
  { events }: DeploymentSettings,
  shared: SharedFunctionProps,
) {
  if (events === 'off') return undefined;
  const bus = new EventBus(scope, 'EventBus', { eventBusName: nameOf(scope) });
  const definition = auditPublisher;
  const publisher = new ServiceFunction(scope, 'PublishAudit', { ...shared, definition });
  const refused = createUnsent(publisher, shared.dataKey);
  const { lambda } = publisher;
  const { region, urlSuffix } = Stack.of(scope);
  lambda.addEnvironment(variableOf('eventsUrl'), `https://events.${region}.${urlSuffix}/`);
  lambda.addEnvironment(variableOf('eventBus'), bus.eventBusName);
  lambda.addEnvironment(variableOf('eventSource'), nameOf(scope));
  lambda.addEnvironment(variableOf('refusedEventsQueueUrl'), refused.queueUrl);
  bus.grantPutEventsTo(lambda);
  lambda.addToRolePolicy(sendingTo(refused));
  lambda.addEventSource(
    new DynamoEventSource(shared.tables.audit as ITable, {
      startingPosition: StartingPosition.TRIM_HORIZON,
      reportBatchItemFailures: true,
      bisectBatchOnError: true,
      // A stream keeps its records for so long.
      maxRecordAge: Duration.hours(24),
      onFailure: destinationOf(refused),
    }),
  );
  const outputs = { EventBusName: bus.eventBusName, RefusedEventsQueueUrl: refused.queueUrl };
  return { bus, publisher, refused, outputs };
}
