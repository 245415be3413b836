import type { Stack } from 'aws-cdk-lib';
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import {
  Alarm,
  ComparisonOperator,
  type IMetric,
  MathExpression,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { tables as tableDefinitions } from '../../../lib/dynamodb/tables.ts';
import { entryNotWritten, noticeNotHandedOver } from '../../../lib/log.ts';
import type { ServiceFunction } from '../function.ts';
import type { Tables } from '../table.ts';
import {
  type LogMetrics,
  period,
  serverErrorRate,
  sum,
  tableThrottles,
  tableUses,
  unsentMails,
} from './metrics.ts';

export interface Watched {
  readonly api: HttpApi;
  readonly functions: readonly ServiceFunction[];
  /** Absent where the audit trail is not sealed. */
  readonly sealer: ServiceFunction | undefined;
  readonly tables: Tables;
  readonly logMetrics: LogMetrics;
}

interface AlarmDefinition {
  readonly name: string;
  /** What it means and where to look, for whoever is woken by it. */
  readonly description: string;
  readonly metric: IMetric;
  /** The alarm is raised from this value on. */
  readonly threshold: number;
  /** Of the last three periods, how many must be over it; 1: the last one. */
  readonly periods?: 2 | 3;
  /** It is raised by silence too. */
  readonly raisedBySilence?: true;
}

const gatewayAlarms = ({ api }: Watched): AlarmDefinition[] => [
  {
    name: 'ServerErrors',
    description:
      "One request in a hundred is answered 5xx. See the fault lines in the functions' logs.",
    metric: serverErrorRate(api),
    threshold: 1,
    periods: 2,
  },
  {
    name: 'Latency',
    description:
      'The slowest of a hundred requests takes 3 s: longer than a cold start with a hash.',
    metric: api.metricLatency({ statistic: 'p99', period }),
    threshold: 3000,
    periods: 3,
  },
];

/** One for each function: it says which, and an alarm on a sum takes ten metrics at most. */
const functionAlarms = ({ functions, sealer }: Watched): AlarmDefinition[] =>
  [...functions, ...(sealer ? [sealer] : [])].flatMap(({ node, definition, lambda }) => {
    const errors: AlarmDefinition = {
      name: `${node.id}Errors`,
      description: `The function ${definition.name} crashed, timed out or ran out of memory: a 500 that it answers itself is none of these.`,
      metric: lambda.metricErrors({ period }),
      threshold: 1,
    };
    const throttles: AlarmDefinition = {
      name: `${node.id}Throttles`,
      description: `Lambda refused to run the function ${definition.name}: the account's concurrency is used up.`,
      metric: lambda.metricThrottles({ period }),
      threshold: 1,
    };
    // The in-memory variant is throttled by design when it has a concurrency of its own.
    return definition.inMemory ? [errors] : [errors, throttles];
  });

const tableAlarms = ({ tables }: Watched): AlarmDefinition[] =>
  tableDefinitions.flatMap((definition) =>
    // Reads and writes apart, because an alarm takes ten metrics.
    tableUses.map((use) => ({
      name: `${definition.name === 'users' ? 'UsersTable' : 'AuditTable'}${use}Throttles`,
      description: `DynamoDB throttles ${use.toLowerCase()}s of the ${definition.name} table or an index of it: a hot key, or growth faster than on-demand capacity follows.`,
      metric: sum(`Throttled ${use.toLowerCase()}s`, tableThrottles(tables, definition, use)),
      // A few are retried by the SDK and seen by nobody.
      threshold: 10,
    })),
  );

const securityAlarms = ({ logMetrics }: Watched): AlarmDefinition[] => [
  {
    name: 'UnwrittenAuditEntries',
    description: `An audit entry could not be stored. It is whole in the log, as ${entryNotWritten}, and must be replayed.`,
    metric: logMetrics.unwrittenAuditEntries,
    threshold: 1,
  },
  {
    name: 'AdminMade',
    description:
      'A user was made an admin through the API. The log of the function names both by their ids, as admin-made; the audit trail has the rest. If nobody meant to, demote the user.',
    metric: logMetrics.adminsMade,
    threshold: 1,
  },
  {
    name: 'FailedLogins',
    description:
      'At least 50 logins in five minutes were refused (401, 404, 429), and no fewer than succeed (200): someone is guessing passwords. Other responses count on neither side. See the source addresses in the access log.',
    metric: new MathExpression({
      label: 'Refused logins, percent of those refused or successful, when 50 or more',
      period,
      expression: 'IF(failed >= 50, 100 * failed / logins, 0)',
      usingMetrics: { failed: logMetrics.failedLogins, logins: logMetrics.logins },
    }),
    threshold: 50,
  },
];

const sealAlarms = ({ sealer, logMetrics }: Watched): AlarmDefinition[] =>
  sealer
    ? [
        {
          name: 'AuditTrailBroken',
          description:
            'The audit trail is not what was sealed. The log of the function seal-audit names entries and files, as audit-trail-broken; the command verify-audit tells all.',
          metric: logMetrics.brokenAuditTrails,
          threshold: 1,
        },
        {
          name: 'AuditSealBehind',
          description:
            'The audit trail was not sealed for two windows: whoever may write to the table can change newer entries unseen. See the log of the function seal-audit.',
          metric: new MathExpression({
            label: 'Windows that were not sealed',
            period,
            expression: 'IF(runs - errors < 1, 1, 0)',
            usingMetrics: {
              runs: sealer.lambda.metricInvocations({ period }),
              errors: sealer.lambda.metricErrors({ period }),
            },
          }),
          threshold: 1,
          periods: 3,
          raisedBySilence: true,
        },
      ]
    : [];

const mailAlarms = ({ functions, logMetrics }: Watched): AlarmDefinition[] => {
  const metrics = unsentMails(functions, logMetrics);
  if (metrics.length === 0) return [];
  return [
    {
      name: 'UnsentMails',
      description: `Mails were not sent: messages are in the queue UnsentMailsQueueUrl, or are lost where the log of users-update or password-resets-set has ${noticeNotHandedOver}. See the log of the function mail, and SES.`,
      metric: sum('Mails that were not sent', metrics),
      threshold: 1,
    },
  ];
};

/** The alarms of the service, sent to a topic if there is one. */
export const createAlarms = (stack: Stack, watched: Watched, topic: ITopic | undefined): Alarm[] =>
  [gatewayAlarms, functionAlarms, tableAlarms, securityAlarms, mailAlarms, sealAlarms]
    .flatMap((define) => define(watched))
    .map(({ name, description, metric, threshold, periods = 1, raisedBySilence }) => {
      const alarm = new Alarm(stack, `${name}Alarm`, {
        alarmName: `${stack.stackName}-${name}`,
        alarmDescription: description,
        metric,
        threshold,
        comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
        evaluationPeriods: periods === 1 ? 1 : 3,
        datapointsToAlarm: periods,
        // Elsewhere: no requests, no data, no reason to wake anybody.
        treatMissingData: raisedBySilence
          ? TreatMissingData.BREACHING
          : TreatMissingData.NOT_BREACHING,
      });
      if (topic) alarm.addAlarmAction(new SnsAction(topic));
      return alarm;
    });
