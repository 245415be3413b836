/** What the alarms watch and the dashboard shows, of what AWS measures by itself. */
import { Duration } from 'aws-cdk-lib';
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { type IMetric, MathExpression, type Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { TableDefinition } from '../../../lib/dynamodb/tables.ts';
import type { ServiceFunction } from '../function.ts';
import type { Tables } from '../table.ts';

export const period = Duration.minutes(5);

/** The sum of metrics of which some have no data: a function that nobody calls, say. */
export const sum = (label: string, metrics: readonly IMetric[]): MathExpression =>
  new MathExpression({
    label,
    period,
    expression: 'SUM(FILL(METRICS(), 0))',
    usingMetrics: Object.fromEntries(metrics.map((metric, i) => [`m${i}`, metric])),
  });

/** Mails that will not be sent by themselves any more; none where the service sends no mails. */
export const unsentMails = (
  functions: readonly ServiceFunction[],
  { lostNotices }: { lostNotices: Metric },
): Metric[] =>
  functions.flatMap(({ lambda, unsent }) =>
    unsent
      ? [
          unsent.metricApproximateNumberOfMessagesVisible({ period, label: 'kept' }),
          lambda.metric('DestinationDeliveryFailures', {
            period,
            statistic: 'Sum',
            label: 'not kept',
          }),
          lostNotices,
        ]
      : [],
  );

/** Percent of requests that the service failed to answer. */
export const serverErrorRate = (api: HttpApi): MathExpression =>
  new MathExpression({
    label: 'Requests answered 5xx, percent',
    period,
    expression: 'IF(requests > 0, 100 * failed / requests, 0)',
    usingMetrics: { requests: api.metricCount(), failed: api.metricServerError() },
  });

/** What a table may be throttled in. */
export const tableUses = ['Read', 'Write'] as const;

/** Throttled reads, or writes, of a table and of each of its indexes. */
export const tableThrottles = (
  tables: Tables,
  { name, indexes }: TableDefinition,
  use: (typeof tableUses)[number],
): Metric[] =>
  [undefined, ...indexes.map((index) => index.name)].map((index) =>
    tables[name].metric(`${use}ThrottleEvents`, {
      period,
      statistic: 'Sum',
      label: `${name}${index ? ` ${index}` : ''} ${use}ThrottleEvents`,
      dimensionsMap: {
        TableName: tables[name].tableName,
        ...(index ? { GlobalSecondaryIndexName: index } : {}),
      },
    }),
  );
