/** What the alarms watch and the dashboard shows, of what AWS measures by itself. */
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
import { entryNotWritten, noticeNotHandedOver } from '../../../lib/log.ts';
import { routeKey } from '../../routes.ts';
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

// What the alarms watch and the dashboard shows, of what the logs say.

export interface LogMetrics {
  /** That succeeded or were refused. */
  readonly logins: Metric;
  readonly failedLogins: Metric;
  readonly adminsMade: Metric;
  readonly unwrittenAuditEntries: Metric;
  readonly brokenAuditTrails: Metric;
  /** Of changes, which could not be handed to the function that mails. */
  readonly lostNotices: Metric;
}

const anyOf = (field: string, values: readonly string[]) =>
  FilterPattern.any(...values.map((value) => FilterPattern.stringValue(field, '=', value)));

const isLogin = ({ definition }: ServiceFunction) => definition.name === 'login';
const writesAudit = ({ definition }: ServiceFunction) =>
  definition.permissions.some(
    ({ table, actions }) => table === 'audit' && actions.includes('dynamodb:PutItem'),
  );

/**
 * Wrong password, unknown email, too many attempts. A 400 is a malformed request, not an attempt:
 * it costs nothing, and whoever guesses passwords could send as many as make the refusals few.
 */
const refusals = ['401', '404', '429'];
const outcomes = ['200', ...refusals];

/**
 * The events that lib/audit/record.ts and lib/mail/notice.ts log. A plain search: Lambda puts a prefix before the JSON
 * of a line, which a JSON pattern would not match.
 */
const unwrittenAuditEntry = FilterPattern.allTerms(entryNotWritten);
const lostNotice = FilterPattern.allTerms(noticeNotHandedOver);

/** The event that lib/users/admins.ts logs. */
const adminMade = FilterPattern.allTerms('admin-made');

/** The event that lib/audit/seal/round.ts logs. */
const brokenAuditTrail = FilterPattern.allTerms('audit-trail-broken');

/** Makes metrics of lines in the access log and in the logs of functions. */
export const createLogMetrics = (
  stack: Stack,
  {
    functions,
    sealer,
    accessLogs,
  }: {
    functions: readonly ServiceFunction[];
    sealer: ServiceFunction | undefined;
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

  const login = anyOf(
    '$.routeKey',
    functions.filter(isLogin).flatMap(({ definition }) => definition.routes.map(routeKey)),
  );
  const loginsWith = (statuses: readonly string[]) =>
    FilterPattern.all(login, anyOf('$.status', statuses));
  count('LoginFilter', 'Logins', accessLogs, loginsWith(outcomes));
  count('FailedLoginFilter', 'FailedLogins', accessLogs, loginsWith(refusals));
  for (const { node, logGroup } of functions.filter(writesAudit)) {
    count(`${node.id}AuditFilter`, 'UnwrittenAuditEntries', logGroup, unwrittenAuditEntry);
  }
  for (const { node, logGroup } of functions.filter(({ definition }) => definition.makesAdmins)) {
    count(`${node.id}AdminFilter`, 'AdminsMade', logGroup, adminMade);
  }
  if (sealer) count('AuditTrailFilter', 'BrokenAuditTrails', sealer.logGroup, brokenAuditTrail);
  for (const { node, logGroup, definition } of functions) {
    if (!definition.handsOverMails || !functions.some(({ unsent }) => unsent)) continue;
    count(`${node.id}NoticeFilter`, 'LostNotices', logGroup, lostNotice);
  }
  return {
    logins: metric('Logins'),
    failedLogins: metric('FailedLogins'),
    adminsMade: metric('AdminsMade'),
    unwrittenAuditEntries: metric('UnwrittenAuditEntries'),
    brokenAuditTrails: metric('BrokenAuditTrails'),
    lostNotices: metric('LostNotices'),
  };
};
