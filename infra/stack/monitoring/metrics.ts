/** The metrics of the alarms and the dashboard: those of AWS, and those made from the logs. */
import { Duration, type Stack } from 'aws-cdk-lib';
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { type IMetric, MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import {
  FilterPattern,
  type IFilterPattern,
  type LogGroup,
  MetricFilter,
} from 'aws-cdk-lib/aws-logs';
import type { TableDefinition } from '../../../lib/dynamodb/tables.ts';
import {
  adminMade,
  auditTrailBroken,
  entryNotWritten,
  noticeNotHandedOver,
  refreshTokenReused,
} from '../../../lib/log.ts';
import type { AuditEvents } from '../audit-events.ts';
import type { ServiceFunction } from '../function.ts';
import type { Tables } from '../table.ts';

export const period = Duration.minutes(5);

/** The sum of metrics, some of which may have no data, because a function was not called. */
export const sum = (label: string, metrics: readonly IMetric[]): MathExpression =>
  new MathExpression({
    label,
    period,
    expression: 'SUM(FILL(METRICS(), 0))',
    usingMetrics: Object.fromEntries(metrics.map((metric, i) => [`m${i}`, metric])),
  });

/** Mails that are not retried any more; no metrics where the service sends no mails. */
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

/** The percentage of responses that are a 5xx. */
export const serverErrorRate = (api: HttpApi): MathExpression =>
  new MathExpression({
    label: 'Responses that are 5xx, percent',
    period,
    expression: 'IF(requests > 0, 100 * failed / requests, 0)',
    usingMetrics: { requests: api.metricCount(), failed: api.metricServerError() },
  });

/** The uses of a table that DynamoDB throttles separately. */
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

/** Metrics made from the access log and the logs of functions. */
export interface LogMetrics {
  /** Logins that succeeded or were refused. */
  readonly logins: Metric;
  readonly failedLogins: Metric;
  /** Absent where sessions are not refreshed. */
  readonly refreshes?: { readonly made: Metric; readonly reused: Metric } | undefined;
  readonly adminsMade: Metric;
  readonly unwrittenAuditEntries: Metric;
  readonly brokenAuditTrails: Metric;
  /** Notices of changes that could not be handed over to the mail function. */
  readonly lostNotices: Metric;
}

const anyOf = (field: string, values: readonly string[]) =>
  FilterPattern.any(...values.map((value) => FilterPattern.stringValue(field, '=', value)));

const handsOver = ({ definition }: ServiceFunction) => definition.uses.has('mail');
const isLogin = ({ definition }: ServiceFunction) => definition.name === 'auth-login';
const writesAudit = ({ definition }: ServiceFunction) => definition.uses.has('audit.write');

/**
 * Wrong password, unknown email, too many attempts. A 400 is a malformed request and does not count:
 * otherwise an attacker could lower the percentage of refusals by sending many of them.
 */
const refusals = ['401', '404', '429'];
const outcomes = ['200', ...refusals];

/**
 * The log lines of an event. The filter searches for text: a JSON pattern would not match, because
 * Lambda puts a prefix before the JSON of a line.
 */
const linesOf = (event: string): IFilterPattern => FilterPattern.allTerms(event);

/** The lines of the access log for responses of a function with some statuses. */
const answered = ({ definition }: ServiceFunction, statuses: readonly string[]): IFilterPattern =>
  FilterPattern.all(
    anyOf(
      '$.routeKey',
      definition.routes.map(({ key }) => key),
    ),
    anyOf('$.status', statuses),
  );

/** Creates metrics from the access log and from the logs of functions. */
export const createLogMetrics = (
  stack: Stack,
  {
    functions,
    sealer,
    events,
    accessLogs,
  }: {
    functions: readonly ServiceFunction[];
    sealer: ServiceFunction | undefined;
    events: AuditEvents | undefined;
    accessLogs: LogGroup;
  },
): LogMetrics => {
  const namespace = stack.stackName;
  const count = (id: string, metricName: string, logGroup: LogGroup, pattern: IFilterPattern) => {
    const props = { logGroup, filterPattern: pattern, metricNamespace: namespace, metricName };
    new MetricFilter(stack, id, props);
  };
  const metric = (metricName: string) =>
    new Metric({ namespace, metricName, statistic: 'Sum', period });

  for (const login of functions.filter(isLogin)) {
    count('LoginFilter', 'Logins', accessLogs, answered(login, outcomes));
    count('FailedLoginFilter', 'FailedLogins', accessLogs, answered(login, refusals));
  }
  const refresh = functions.find(({ definition }) => definition.name === 'auth-refresh');
  if (refresh) {
    count('RefreshFilter', 'Refreshes', accessLogs, answered(refresh, ['200']));
    const reused = linesOf(refreshTokenReused);
    count('ReusedTokenFilter', 'ReusedRefreshTokens', refresh.logGroup, reused);
  }
  for (const { node, logGroup } of functions.filter(writesAudit)) {
    count(`${node.id}AuditFilter`, 'UnwrittenAuditEntries', logGroup, linesOf(entryNotWritten));
  }
  for (const { node, logGroup } of functions.filter(({ definition }) =>
    definition.uses.has('admins.make'),
  )) {
    count(`${node.id}AdminFilter`, 'AdminsMade', logGroup, linesOf(adminMade));
  }
  const broken = linesOf(auditTrailBroken);
  if (sealer) count('AuditTrailFilter', 'BrokenAuditTrails', sealer.logGroup, broken);
  if (events) count('EventsFilter', 'BrokenAuditTrails', events.publisher.logGroup, broken);
  const handingOver = functions.some(({ unsent }) => unsent) ? functions.filter(handsOver) : [];
  for (const { node, logGroup } of handingOver) {
    count(`${node.id}NoticeFilter`, 'LostNotices', logGroup, linesOf(noticeNotHandedOver));
  }
  return {
    logins: metric('Logins'),
    failedLogins: metric('FailedLogins'),
    refreshes: refresh && { made: metric('Refreshes'), reused: metric('ReusedRefreshTokens') },
    adminsMade: metric('AdminsMade'),
    unwrittenAuditEntries: metric('UnwrittenAuditEntries'),
    brokenAuditTrails: metric('BrokenAuditTrails'),
    lostNotices: metric('LostNotices'),
  };
};
