import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import { tables as tableDefinitions } from '../../../lib/dynamodb/tables.ts';
import type { Watched } from './alarms.ts';
import { period, tableThrottles, tableUses, unsentMails } from './metrics.ts';

/** Creates a page with the alarms on top and the metrics that explain them below. */
export function createDashboard(scope: Construct, watched: Watched, alarms: cloudwatch.Alarm[]) {
  return new cloudwatch.Dashboard(scope, 'Dashboard', {
    widgets: [
      [new cloudwatch.AlarmStatusWidget({ title: 'Alarms', alarms, width: 24 })],
      gatewayGraphs(watched),
      functionGraphs(watched),
      tableGraphs(watched),
      [...logGraphs(watched), ...mailGraphs(watched)],
    ],
  });
}

function gatewayGraphs({ api }: Watched) {
  return [
    graph(
      'Requests',
      [api.metricCount({ period, label: 'all' })],
      [
        api.metricClientError({ period, label: '4xx' }),
        api.metricServerError({ period, label: '5xx' }),
      ],
    ),
    graph(
      'Latency, ms',
      ['p50', 'p90', 'p99'].map((statistic) =>
        api.metricLatency({ period, statistic, label: statistic }),
      ),
    ),
  ];
}

function graph(title: string, left: cloudwatch.IMetric[], right: cloudwatch.IMetric[] = []) {
  return new cloudwatch.GraphWidget({ title, left, right, width: 12, height: 6 });
}

function functionGraphs({ functions }: Watched) {
  return [
    graph(
      'Duration of functions, p99, ms',
      functions.map(({ definition, lambda }) =>
        lambda.metricDuration({ period, statistic: 'p99', label: definition.name }),
      ),
    ),
    graph(
      'Errors (left) and throttles (right) of functions',
      functions.map(({ definition, lambda }) =>
        lambda.metricErrors({ period, label: definition.name }),
      ),
      functions.map(({ definition, lambda }) =>
        lambda.metricThrottles({ period, label: definition.name }),
      ),
    ),
  ];
}

function tableGraphs({ tables }: Watched) {
  return [
    graph(
      'Capacity units: reads (left) and writes (right)',
      tableDefinitions.map(({ name }) =>
        tables[name].metricConsumedReadCapacityUnits({ period, label: name }),
      ),
      tableDefinitions.map(({ name }) =>
        tables[name].metricConsumedWriteCapacityUnits({ period, label: name }),
      ),
    ),
    graph(
      'Throttled reads and writes',
      tableDefinitions.flatMap((each) =>
        tableUses.flatMap((use) => tableThrottles(tables, each, use)),
      ),
    ),
  ];
}

function logGraphs({ logMetrics }: Watched) {
  return [
    graph(
      'Logins',
      [logMetrics.Logins, logMetrics.FailedLogins],
      [logMetrics.ReusedRefreshTokens].filter((metric) => metric !== undefined),
    ),
    graph('Crashes, and audit entries that were not written', [
      logMetrics.Crashes,
      logMetrics.UnwrittenAuditEntries,
    ]),
  ];
}

function mailGraphs({ functions, logMetrics }: Watched) {
  const metrics = unsentMails(functions, logMetrics);
  const title = 'Mails that were not sent, and those that a limit withheld';
  const { WithheldMails } = logMetrics;
  return WithheldMails ? [graph(title, metrics, [WithheldMails])] : [];
}
