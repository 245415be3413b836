/** The metrics for the alarms and the dashboard. AWS counts some metrics; others are made from the logs. */
import { Duration } from 'aws-cdk-lib';
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { type IMetric, MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern, type LogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { TableDefinition } from '../../../lib/dynamodb/tables.ts';
import {
  adminMade,
  auditTrailBroken,
  entryNotWritten,
  mailNotHandedOver,
  mailWithheld,
  refreshTokenReused,
} from '../../../lib/ground/log.ts';
import type { AuditEvents } from '../audit-events.ts';
import type { ServiceFunction } from '../function.ts';
import { nameOf } from '../name.ts';
import type { Tables } from '../table.ts';

export const period = Duration.minutes(5);

/** The sum of metrics. Some may have no data, because a function was not called. */
export function sum(label: string, metrics: readonly IMetric[]): MathExpression {
  return new MathExpression({
    label,
    period,
    expression: 'SUM(FILL(METRICS(), 0))',
    usingMetrics: Object.fromEntries(metrics.map((metric, i) => [`m${i}`, metric])),
  });
}

/** Mails that are not retried any more; no metrics if the service sends no mails. */
export function unsentMails(
  functions: readonly ServiceFunction[],
  { LostNotices }: LogMetrics,
): Metric[] {
  const notKept = { period, statistic: 'Sum', label: 'not kept' };
  const metrics = functions.flatMap(({ lambda, unsent }) => [
    unsent?.metricApproximateNumberOfMessagesVisible({ period, label: 'kept' }),
    unsent && lambda.metric('DestinationDeliveryFailures', notKept),
  ]);
  return [...metrics, LostNotices].filter((metric) => metric !== undefined);
}

/** The percentage of responses that are a 5xx. */
export function serverErrorRate(api: HttpApi): MathExpression {
  return new MathExpression({
    label: 'Responses that are 5xx, percent',
    period,
    expression: 'IF(requests > 0, 100 * failed / requests, 0)',
    usingMetrics: { requests: api.metricCount(), failed: api.metricServerError() },
  });
}

/** The kinds of use of a table that DynamoDB throttles separately. */
export const tableUses = ['Read', 'Write'] as const;

/** Throttled reads, or writes, of a table and of each of its indexes. */
export function tableThrottles(
  tables: Tables,
  { name, indexes }: TableDefinition,
  use: (typeof tableUses)[number],
): Metric[] {
  return [undefined, ...indexes.map((index) => index.name)].map((index) =>
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
}

export interface Logged {
  readonly functions: readonly ServiceFunction[];
  /** Absent if the audit trail is not sealed. */
  readonly sealer: ServiceFunction | undefined;
  /** Absent if audit entries are not put on a bus. */
  readonly events: AuditEvents | undefined;
  readonly logs: LogGroup;
  readonly accessLogs: LogGroup;
  readonly inProduction: boolean;
}

/** Beginnings of lines that Lambda itself writes when a function took too long or too much memory, or exited. */
export const crashLines = ['Task timed out after', 'Runtime exited'];

type Lines = ReturnType<typeof countedLines>;

/** Metrics made from the access log and the log of the functions; undefined for lines that no function writes. */
export type LogMetrics = {
  readonly [K in keyof Lines]: Metric | (undefined extends Lines[K] ? undefined : never);
};

export function createLogMetrics(scope: Construct, logged: Logged): LogMetrics {
  const metricNamespace = nameOf(scope);
  const metrics = Object.entries(countedLines(logged)).map(([metricName, lines]) => {
    if (!lines) return [metricName, undefined];
    new MetricFilter(lines.logGroup, metricName, { ...lines, metricNamespace, metricName });
    const of = { namespace: metricNamespace, metricName, statistic: 'Sum', period };
    return [metricName, new Metric(of)];
  });
  return Object.fromEntries(metrics) as LogMetrics;
}

/** The routes by which users log in, with a password, an ID token or a passkey. */
const loginRoute = /^POST \/api\/login(?:\/identity|\/passkey)?$/;

/**
 * The statuses for a wrong password, ID token or passkey, an unknown address, and too many attempts. A 400, for a
 * malformed request, does not count: otherwise an attacker could lower the percentage of refusals by sending many
 * malformed requests.
 */
const refusals = ['401', '404', '429'];
const outcomes = ['200', '201', ...refusals];

function countedLines({ functions, sealer, events, logs, accessLogs, inProduction }: Logged) {
  const routes = functions.flatMap(({ definition }) => definition.routes.map(({ key }) => key));
  const posting = functions
    .filter(({ definition }) => definition.uses.has('audit.post'))
    .flatMap(({ definition }) => definition.routes.map(({ key }) => key));
  const isLogin = having(
    '$.routeKey',
    routes.filter((key) => loginRoute.test(key)),
  );
  /** Responses to logins with some statuses, in the access log. */
  const logins = (statuses: readonly string[]) => ({
    logGroup: accessLogs,
    filterPattern: FilterPattern.all(isLogin, having('$.status', statuses)),
  });
  /**
   * The lines of an event. The filter searches for text: a JSON pattern would not match, because
   * Lambda puts a prefix before the JSON of a line.
   */
  const logged = (event: string) => ({
    logGroup: logs,
    filterPattern: FilterPattern.allTerms(event),
  });
  return {
    Logins: logins(outcomes),
    FailedLogins: logins(refusals),
    /**
     * Requests that the throttles of the gateway refused. No function received them. The throttle of posted entries
     * locks nobody out, and their senders repeat them.
     */
    RefusedRequests: inProduction
      ? {
          logGroup: accessLogs,
          filterPattern: FilterPattern.all(
            FilterPattern.stringValue('$.status', '=', '429'),
            FilterPattern.stringValue('$.integrationStatus', '=', '-'),
            ...posting.map((key) => FilterPattern.stringValue('$.routeKey', '!=', key)),
          ),
        }
      : undefined,
    ReusedRefreshTokens: functions.some(({ definition }) => definition.name === 'auth-refresh')
      ? logged(refreshTokenReused)
      : undefined,
    AdminsMade: logged(adminMade),
    UnwrittenAuditEntries: logged(entryNotWritten),
    Crashes: { logGroup: logs, filterPattern: FilterPattern.anyTerm(...crashLines) },
    BrokenAuditTrails: sealer || events ? logged(auditTrailBroken) : undefined,
    WithheldMails: functions.some(({ unsent }) => unsent) ? logged(mailWithheld) : undefined,
    /** Notices of changes that could not be handed over to the mail function. */
    LostNotices: functions.some(({ unsent }) => unsent) ? logged(mailNotHandedOver) : undefined,
  };
}

function having(field: string, values: readonly string[]) {
  return FilterPattern.any(...values.map((value) => FilterPattern.stringValue(field, '=', value)));
}
