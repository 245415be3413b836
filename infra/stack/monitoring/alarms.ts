import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import {
  Alarm,
  ComparisonOperator,
  type IMetric,
  MathExpression,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { Construct } from 'constructs';
import { auditTable, usersTable } from '../../../lib/dynamodb/tables.ts';
import {
  adminMade,
  auditTrailBroken,
  entryNotWritten,
  mailNotHandedOver,
  mailNotSent,
  refreshTokenReused,
} from '../../../lib/ground/log.ts';
import { nameOf } from '../name.ts';
import type { Tables } from '../table.ts';
import type { AlarmTopics } from './alarm-topic.ts';
import {
  crashLines,
  type Logged,
  type LogMetrics,
  period,
  serverErrorRate,
  sum,
  tableThrottles,
  unsentMails,
} from './metrics.ts';

export interface Watched extends Logged {
  readonly api: HttpApi;
  readonly tables: Tables;
  readonly logMetrics: LogMetrics;
}

/**
 * Creates the alarms of the service, which watch effects that users notice, and not each function. Only in production
 * are there alarms for throttles, because each of these alarms costs money.
 */
export function createAlarms(
  scope: Construct,
  watched: Watched,
  { raised, over }: AlarmTopics,
): Alarm[] {
  const definitions = [
    requestAlarms,
    ...(watched.inProduction ? [tableAlarms] : []),
    securityAlarms,
    trailAlarms,
  ].flatMap((define) => define(watched));
  return definitions.flatMap(
    ({ name, description, runbook, metric, periods = 1, ...definition }) => {
      if (!metric) return [];
      const alarm = new Alarm(scope, `${name}Alarm`, {
        alarmName: `${nameOf(scope)}-${name}`,
        alarmDescription: `${description} See infra/runbooks.md#${runbook}.`,
        metric,
        comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
        evaluationPeriods: periods === 1 ? 1 : 3,
        datapointsToAlarm: periods,
        // For most alarms, missing data means that there were no requests.
        treatMissingData: TreatMissingData.NOT_BREACHING,
        ...definition,
      });
      alarm.addAlarmAction(...raised.map((topic) => new SnsAction(topic)));
      alarm.addOkAction(...over.map((topic) => new SnsAction(topic)));
      return [alarm];
    },
  );
}

interface AlarmDefinition {
  readonly name: string;
  /** The meaning of the alarm, where to look and what to do, for the engineer on call. */
  readonly description: string;
  /** The section of infra/runbooks.md that describes the rest. */
  readonly runbook: string;
  /** Undefined: there is no alarm, because the service has nothing that it could watch. */
  readonly metric: IMetric | undefined;
  /** The least value for which the alarm is raised. */
  readonly threshold: number;
  /** How many of the last three periods must reach the threshold; absent: only the last period must. */
  readonly periods?: 2 | 3;
  readonly treatMissingData?: TreatMissingData;
}

const findRoute =
  'The access log has the route, which is in the description of the function that takes it.';

function requestAlarms({ api, logMetrics }: Watched): AlarmDefinition[] {
  return [
    {
      name: 'ServerErrors',
      description: `In 10 of 15 minutes at least one response in a hundred was a 5xx. ${findRoute} ${search('"level":"error"')} An integrationStatus of 429 in the access log means that the account's concurrency is used up. If it began with a deployment, go back.`,
      runbook: 'check-a-deployment',
      metric: serverErrorRate(api),
      threshold: 1,
      periods: 2,
    },
    {
      name: 'Latency',
      description: `For 15 minutes one request in a hundred has taken 3 s or more, which is longer than a cold start with a hash. ${findRoute} If it began with a deployment, go back; otherwise look whether its tables are throttled.`,
      runbook: 'more-users',
      metric: api.metricLatency({ statistic: 'p99', period }),
      threshold: 3000,
      periods: 3,
    },
    {
      // The throttles may lock everybody out, and no other alarm counts requests that they refuse.
      name: 'RefusedRequests',
      description:
        'In 5 minutes API Gateway refused at least 100 requests with 429, because there were more than the throttles allow. All clients share these, so that somebody may keep everybody out. The access log has the source addresses of the lines without an integrationStatus: block one that stands out in front of the API, or raise the throttles.',
      runbook: 'more-users',
      metric: logMetrics.RefusedRequests,
      threshold: 100,
    },
    {
      name: 'Crashes',
      description: `A function timed out, ran out of memory or exited. ${search(crashLines.map((line) => `"${line}"`).join(' and '))} If it began with a deployment, go back.`,
      runbook: 'check-a-deployment',
      metric: logMetrics.Crashes,
      threshold: 1,
    },
  ];
}

/** Says how to find the lines with a text, and the function that wrote each line. */
function search(text: string) {
  return `Search the log group FunctionLogGroupName for ${text}: the name of a line's log stream has its function.`;
}

/**
 * There is no alarm for throttled reads of the audit table: only admins and the sealer read it, and if their reads
 * fail, the alarms of the API and of the seal are raised. Reads and writes have separate alarms, because an alarm takes
 * at most ten metrics.
 */
const throttled = [
  ['UsersTable', usersTable, 'Read'],
  ['UsersTable', usersTable, 'Write'],
  ['AuditTable', auditTable, 'Write'],
] as const;

function tableAlarms({ tables }: Watched): AlarmDefinition[] {
  return throttled.map(([name, table, use]) => ({
    name: `${name}${use}Throttles`,
    description: `In 5 minutes DynamoDB throttled at least 10 ${use.toLowerCase()}s of the ${table.name} table and its indexes: a key is used too often, or traffic grows faster than on-demand capacity, which follows within minutes. If it goes on, find out in the access log who causes it.`,
    runbook: 'more-users',
    metric: sum(`Throttled ${use.toLowerCase()}s`, tableThrottles(tables, table, use)),
    // The SDK retries a few throttled requests, and no user notices them.
    threshold: 10,
  }));
}

function securityAlarms({ functions, logMetrics }: Watched): AlarmDefinition[] {
  const mails = unsentMails(functions, logMetrics);
  return [
    {
      name: 'UnwrittenAuditEntries',
      description: `An audit entry could not be stored. The log has the complete entry: replay it by replay-audit. ${search(entryNotWritten)}`,
      runbook: 'commands',
      metric: logMetrics.UnwrittenAuditEntries,
      threshold: 1,
    },
    {
      name: 'AdminMade',
      description: `A user was made an admin through the API. The log has the ids of both users, and the audit trail the rest. If this was not intended, demote the user. ${search(adminMade)}`,
      runbook: 'watch',
      metric: logMetrics.AdminsMade,
      threshold: 1,
    },
    {
      name: 'FailedLogins',
      description: `At least 50 logins in five minutes, by password, ID token or passkey, were refused (401, 404, 429), and no fewer than succeeded: someone is guessing. Other responses are not counted. Find the source addresses in the access log, and block them in front of the API. Where sessions are refreshed, a refresh token that came again after its use raises the alarm too. ${search(refreshTokenReused)}`,
      runbook: 'watch',
      metric: new MathExpression({
        label: 'Refused logins, percent of refused and successful ones, if 50 or more',
        period,
        ...loginsOrReuses(logMetrics),
      }),
      threshold: 50,
    },
    {
      name: 'UnsentMails',
      description: `Mails were not sent: their messages are in the queue UnsentMailsQueueUrl, or are lost where a function could not hand them over to the function send-mail. See SES too, and send what is in the queue once the cause is gone. ${search(`${mailNotSent} and ${mailNotHandedOver}`)}`,
      runbook: 'mails',
      metric: mails.length > 0 ? sum('Mails that were not sent', mails) : undefined,
      threshold: 1,
    },
  ];
}

const refusedLogins = 'IF(failed >= 50, 100 * failed / logins, 0)';

/** A refresh token that was used twice is enough to raise the alarm, because somebody else has the token. */
function loginsOrReuses({
  Logins: logins,
  FailedLogins: failed,
  ReusedRefreshTokens: reused,
}: LogMetrics) {
  return reused
    ? {
        expression: `MAX([FILL(${refusedLogins}, 0), IF(FILL(reused, 0) > 0, 100, 0)])`,
        usingMetrics: { failed, logins, reused },
      }
    : { expression: refusedLogins, usingMetrics: { failed, logins } };
}

function trailAlarms({ sealer, events, logMetrics }: Watched): AlarmDefinition[] {
  return [
    {
      name: 'AuditTrailBroken',
      description: `The audit trail differs from what was sealed, or somebody changed, deleted or inserted an entry. The log names entries and files; the command verify-audit finds all. Find out who did it, before anybody mends it. ${search(auditTrailBroken)}`,
      runbook: 'the-seal',
      metric: logMetrics.BrokenAuditTrails,
      threshold: 1,
    },
    {
      name: 'AuditSealBehind',
      description: `For 15 minutes, which is three runs, the function seal-audit has not sealed anything: changes of newer entries in the table cannot be detected. Mend the cause: the next run seals what was missed. ${search('audit-seal-failed')}`,
      runbook: 'the-seal',
      metric:
        sealer &&
        new MathExpression({
          label: 'Runs that sealed nothing',
          period,
          expression: 'IF(runs - errors < 1, 1, 0)',
          usingMetrics: {
            runs: sealer.lambda.metricInvocations({ period }),
            errors: sealer.lambda.metricErrors({ period }),
          },
        }),
      threshold: 1,
      periods: 3,
      treatMissingData: TreatMissingData.BREACHING,
    },
    {
      name: 'EventsBehind',
      description: `An audit entry has waited for the bus for 10 minutes: the bus takes none, or the function publish-audit is slower than entries are recorded. An entry is lost 24 hours after it was recorded, so mend the cause before. ${search('event-not-put')}`,
      runbook: 'events',
      metric: events?.publisher.lambda.metric('IteratorAge', { period, statistic: 'Maximum' }),
      threshold: 600_000,
    },
    {
      name: 'RefusedEvents',
      description:
        'The bus refused events: they are in the queue RefusedEventsQueueUrl, with the errors. Mend the cause, and put them on the bus again.',
      runbook: 'events',
      metric: events?.refused.metricApproximateNumberOfMessagesVisible({ period }),
      threshold: 1,
    },
  ];
}
