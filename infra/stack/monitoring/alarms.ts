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
import { tables as tableDefinitions } from '../../../lib/dynamodb/tables.ts';
import { entryNotWritten, noticeNotHandedOver } from '../../../lib/ground/log.ts';
import { nameOf } from '../name.ts';
import type { Tables } from '../table.ts';
import type { AlarmTopics } from './alarm-topic.ts';
import {
  hasRefreshes,
  type Logged,
  type LogMetrics,
  period,
  serverErrorRate,
  sum,
  tableThrottles,
  tableUses,
  unsentMails,
} from './metrics.ts';

/** The resources that the alarms and the dashboard watch. */
export interface Watched extends Logged {
  readonly api: HttpApi;
  readonly tables: Tables;
  readonly logMetrics: LogMetrics;
}

interface AlarmDefinition {
  readonly name: string;
  /** The meaning of the alarm and where to look, for the engineer on call. */
  readonly description: string;
  readonly metric: IMetric;
  /** The alarm is raised from this value on. */
  readonly threshold: number;
  /** How many of the last three periods must reach the threshold; default: only the last one. */
  readonly periods?: 2 | 3;
  /** Missing data raises the alarm too. */
  readonly raisedByMissingData?: true;
}

const gatewayAlarms = ({ api }: Watched): AlarmDefinition[] => [
  {
    name: 'ServerErrors',
    description: "One response in a hundred is a 5xx. See the fault lines in the functions' logs.",
    metric: serverErrorRate(api),
    threshold: 1,
    periods: 2,
  },
  {
    name: 'Latency',
    description:
      'One request in a hundred takes over 3 s, which is longer than a cold start with a hash.',
    metric: api.metricLatency({ statistic: 'p99', period }),
    threshold: 3000,
    periods: 3,
  },
];

/** One alarm for each function, which it names; an alarm on a sum takes at most ten metrics. */
const functionAlarms = ({ functions, sealer, events }: Watched): AlarmDefinition[] =>
  [...functions, sealer ?? [], events?.publisher ?? []].flat().flatMap((each) => {
    const { node, definition, lambda } = each;
    const errors: AlarmDefinition = {
      name: `${node.id}Errors`,
      description: `The function ${definition.name} crashed, timed out or ran out of memory. A 500 that the function returns itself does not count.`,
      metric: lambda.metricErrors({ period }),
      threshold: 1,
    };
    const throttles: AlarmDefinition = {
      name: `${node.id}Throttles`,
      description: `Lambda refused to run the function ${definition.name}: the account's concurrency is used up.`,
      metric: lambda.metricThrottles({ period }),
      threshold: 1,
    };
    // The in-memory variant is throttled by design when it has a reserved concurrency.
    return definition.uses.has('memory') ? [errors] : [errors, throttles];
  });

const tableAlarms = ({ tables }: Watched): AlarmDefinition[] =>
  tableDefinitions.flatMap((definition) =>
    // Reads and writes have separate alarms, because an alarm takes at most ten metrics.
    tableUses.map((use) => ({
      name: `${definition.name === 'users' ? 'UsersTable' : 'AuditTable'}${use}Throttles`,
      description: `DynamoDB throttles ${use.toLowerCase()}s of the ${definition.name} table or one of its indexes: a key is used too often, or traffic grows faster than on-demand capacity.`,
      metric: sum(`Throttled ${use.toLowerCase()}s`, tableThrottles(tables, definition, use)),
      // The SDK retries a few, which no user notices.
      threshold: 10,
    })),
  );

const refusedLogins = 'IF(failed >= 50, 100 * failed / logins, 0)';

/** A refresh token that was used twice raises the alarm by itself: somebody else has it. */
const loginsOrReuses = ({ functions, logMetrics }: Watched) => {
  const { Logins: logins, FailedLogins: failed, ReusedRefreshTokens: reused } = logMetrics;
  return hasRefreshes(functions)
    ? {
        expression: `MAX([FILL(${refusedLogins}, 0), IF(FILL(reused, 0) > 0, 100, 0)])`,
        usingMetrics: { failed, logins, reused },
      }
    : { expression: refusedLogins, usingMetrics: { failed, logins } };
};

const securityAlarms = (watched: Watched): AlarmDefinition[] => [
  {
    name: 'UnwrittenAuditEntries',
    description: `An audit entry could not be stored. The log has the complete entry, as ${entryNotWritten}: replay it by replay-audit.`,
    metric: watched.logMetrics.UnwrittenAuditEntries,
    threshold: 1,
  },
  {
    name: 'AdminMade',
    description:
      'A user was made an admin through the API. The log of the function has the ids of both users, as admin-made; see the audit trail for the rest. If this was not intended, demote the user.',
    metric: watched.logMetrics.AdminsMade,
    threshold: 1,
  },
  {
    name: 'FailedLogins',
    description:
      'At least 50 logins in five minutes were refused (401, 404, 429), and no fewer than succeeded (200): someone is guessing passwords. Other responses are not counted. See the source addresses in the access log. Where sessions are refreshed, a refresh token that came again after its use raises the alarm too: see refresh-token-reused in the log of the function.',
    metric: new MathExpression({
      label: 'Refused logins, percent of refused and successful ones, if 50 or more',
      period,
      ...loginsOrReuses(watched),
    }),
    threshold: 50,
  },
];

const trailAlarms = ({ sealer, events, logMetrics }: Watched): AlarmDefinition[] =>
  sealer || events
    ? [
        {
          name: 'AuditTrailBroken',
          description:
            'The audit trail differs from what was sealed, or somebody changed, deleted or inserted an entry. The log of the function seal-audit or publish-audit names entries and files, as audit-trail-broken; the command verify-audit finds all.',
          metric: logMetrics.BrokenAuditTrails,
          threshold: 1,
        },
      ]
    : [];

const sealAlarms = ({ sealer }: Watched): AlarmDefinition[] =>
  sealer
    ? [
        {
          name: 'AuditSealBehind',
          description:
            'Two runs of the sealer in a row have failed: changes of newer entries in the table cannot be detected. See the log of the function seal-audit.',
          metric: new MathExpression({
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
          raisedByMissingData: true,
        },
      ]
    : [];

const eventAlarms = ({ events }: Watched): AlarmDefinition[] =>
  events
    ? [
        {
          name: 'EventsBehind',
          description:
            'For ten minutes nothing has put audit entries on the bus. They are lost 24 hours after they were recorded. See the log of the function publish-audit, as event-not-put.',
          metric: events.publisher.lambda.metric('IteratorAge', { period, statistic: 'Maximum' }),
          threshold: 600_000,
        },
        {
          name: 'RefusedEvents',
          description:
            'The bus refused events: they are in the queue RefusedEventsQueueUrl, with the errors.',
          metric: events.refused.metricApproximateNumberOfMessagesVisible({ period }),
          threshold: 1,
        },
      ]
    : [];

const mailAlarms = ({ functions, logMetrics }: Watched): AlarmDefinition[] => {
  const metrics = unsentMails(functions, logMetrics);
  if (metrics.length === 0) return [];
  return [
    {
      name: 'UnsentMails',
      description: `Mails were not sent: their messages are in the queue UnsentMailsQueueUrl, or are lost if the log of a function that hands mails over has ${noticeNotHandedOver}. See the log of the function mail, and SES.`,
      metric: sum('Mails that were not sent', metrics),
      threshold: 1,
    },
  ];
};

/** Creates the alarms of the service. */
export const createAlarms = (
  scope: Construct,
  watched: Watched,
  { raised, over }: AlarmTopics,
): Alarm[] =>
  [
    gatewayAlarms,
    functionAlarms,
    tableAlarms,
    securityAlarms,
    mailAlarms,
    trailAlarms,
    sealAlarms,
    eventAlarms,
  ]
    .flatMap((define) => define(watched))
    .map(({ name, description, metric, threshold, periods = 1, raisedByMissingData }) => {
      const alarm = new Alarm(scope, `${name}Alarm`, {
        alarmName: `${nameOf(scope)}-${name}`,
        alarmDescription: description,
        metric,
        threshold,
        comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
        evaluationPeriods: periods === 1 ? 1 : 3,
        datapointsToAlarm: periods,
        // For most alarms, missing data means that there were no requests.
        treatMissingData: raisedByMissingData
          ? TreatMissingData.BREACHING
          : TreatMissingData.NOT_BREACHING,
      });
      alarm.addAlarmAction(...raised.map((topic) => new SnsAction(topic)));
      alarm.addOkAction(...over.map((topic) => new SnsAction(topic)));
      return alarm;
    });
