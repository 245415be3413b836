import { describe, expect, it } from 'vitest';
import type { TablePermission } from '../../../infra/uses.ts';
import { auditTable, usersTable } from '../../../lib/dynamodb/tables.ts';
import { functionsOf, idOf, production, resourcesOf, synthesise, target } from './template.ts';

const functions = functionsOf();

const alarms = (context = {}) => resourcesOf(synthesise(context), 'AWS::CloudWatch::Alarm');
const properties = (name: string, context = {}) => alarms(context).get(`${name}Alarm`)?.Properties;

interface Query {
  readonly Id: string;
  readonly Expression?: string;
  readonly MetricStat?: {
    readonly Metric: {
      readonly MetricName: string;
      readonly Dimensions?: readonly { readonly Name: string; readonly Value: unknown }[];
    };
  };
}

const expression = (name: string, context = {}) =>
  (properties(name, context).Metrics as Query[]).find((query) => query.Expression)?.Expression;

/** `metric of dimension values`, one for each metric that an alarm adds up. */
const watched = (name: string, context = {}) => {
  const { Metrics } = alarms(context).get(`${name}Alarm`)?.Properties ?? {};
  return (Metrics as Query[]).flatMap(({ MetricStat }) => {
    if (!MetricStat) return [];
    const { MetricName, Dimensions = [] } = MetricStat.Metric;
    return `${MetricName} of ${Dimensions.map(({ Value }) => target(Value)).join(' ')}`;
  });
};

const writesAudit = ({ table, actions }: TablePermission) =>
  table === 'audit' && actions.includes('dynamodb:PutItem');

const filters = (name: string, context = {}) =>
  [...resourcesOf(synthesise(context), 'AWS::Logs::MetricFilter').values()]
    .map(({ Properties }) => Properties)
    .filter(({ MetricTransformations: [{ MetricName }] }) => MetricName === name)
    .map(({ LogGroupName, FilterPattern }) => [target(LogGroupName), FilterPattern]);

describe('An alarm', () => {
  it('is raised when one request in a hundred is answered 5xx, twice in a quarter of an hour', () => {
    expect(properties('ServerErrors')).toMatchObject({
      Threshold: 1,
      EvaluationPeriods: 3,
      DatapointsToAlarm: 2,
    });
    expect(expression('ServerErrors')).toBe('IF(requests > 0, 100 * failed / requests, 0)');
    expect(watched('ServerErrors')).toEqual(['Count of Api', '5xx of Api']);
  });

  it('is raised when the 99th percentile of the latency stays over 3 s', () => {
    expect(properties('Latency')).toMatchObject({
      MetricName: 'Latency',
      ExtendedStatistic: 'p99',
      Threshold: 3000,
      EvaluationPeriods: 3,
      DatapointsToAlarm: 3,
    });
  });

  it.each([
    ...functions.map((each) => ['Errors', each] as const),
    ...functions
      .filter(({ uses }) => !uses.has('memory'))
      .map((each) => ['Throttles', each] as const),
  ])('is raised by %s of $name', (metric, definition) => {
    const { Dimensions, ...alarm } = properties(`${idOf(definition)}${metric}`);

    expect(alarm).toMatchObject({
      MetricName: metric,
      Statistic: 'Sum',
      Threshold: 1,
      EvaluationPeriods: 1,
    });
    expect(Dimensions.map(({ Value }: { Value: unknown }) => target(Value))).toEqual([
      idOf(definition, 'Function'),
    ]);
  });

  it('is not raised when the function with a limit of its own is refused', () => {
    expect(properties('V1UsersThrottles')).toBeUndefined();
  });

  it.each([
    ['UsersTable', usersTable.indexes],
    ['AuditTable', auditTable.indexes],
  ])('is raised when %s or an index of it is throttled', (table, indexes) => {
    for (const kind of ['Read', 'Write']) {
      const alarm = `${table}${kind}Throttles`;
      expect(properties(alarm).Threshold).toBe(10);
      expect(watched(alarm)).toContain(`${kind}ThrottleEvents of ${table}`);
      for (const { name } of indexes) {
        expect(watched(alarm)).toContain(`${kind}ThrottleEvents of ${name} ${table}`);
      }
    }
  });

  it('is raised by every audit entry that could not be written, in any function', () => {
    expect(properties('UnwrittenAuditEntries')).toMatchObject({
      MetricName: 'UnwrittenAuditEntries',
      Statistic: 'Sum',
      Threshold: 1,
      EvaluationPeriods: 1,
    });
    expect(filters('UnwrittenAuditEntries')).toEqual(
      functions
        .filter(({ permissions }) => permissions.some(writesAudit))
        .map((each) => [idOf(each, 'Logs'), '"audit-entry-not-written"']),
    );
  });

  it('is raised by every user whom a function makes an admin', () => {
    expect(properties('AdminMade')).toMatchObject({
      MetricName: 'AdminsMade',
      Statistic: 'Sum',
      Threshold: 1,
      EvaluationPeriods: 1,
    });
    expect(filters('AdminsMade')).toEqual([
      ['UsersCreateLogs', '"admin-made"'],
      ['UsersUpdateLogs', '"admin-made"'],
    ]);
  });

  it('is raised when at least 50 logins, and half of those that succeed or are refused, are refused', () => {
    expect(properties('FailedLogins').Threshold).toBe(50);
    expect(properties('FailedLogins').AlarmDescription).toContain(
      'refused (401, 404, 429), and no fewer than succeeded (200)',
    );
    expect(expression('FailedLogins')).toBe('IF(failed >= 50, 100 * failed / logins, 0)');
    // A malformed request (400), which costs nothing, must not outweigh what was refused.
    expect(filters('Logins')).toEqual([
      [
        'AccessLogs',
        '{ ($.routeKey = "POST /api/login") && (($.status = "200") || ($.status = "401") || ($.status = "404") || ($.status = "429")) }',
      ],
    ]);
    expect(filters('FailedLogins')).toEqual([
      [
        'AccessLogs',
        '{ ($.routeKey = "POST /api/login") && (($.status = "401") || ($.status = "404") || ($.status = "429")) }',
      ],
    ]);
  });

  it('is raised by one refresh token that came again after its use', () => {
    const refreshing = { sessionDays: 90 };

    expect(expression('FailedLogins', refreshing)).toBe(
      'MAX([FILL(IF(failed >= 50, 100 * failed / logins, 0), 0), IF(FILL(reused, 0) > 0, 100, 0)])',
    );
    expect(filters('ReusedRefreshTokens', refreshing)).toEqual([
      ['AuthRefreshLogs', '"refresh-token-reused"'],
    ]);
    expect(filters('Refreshes', refreshing)).toEqual([
      ['AccessLogs', '{ ($.routeKey = "POST /api/refresh") && ($.status = "200") }'],
    ]);
  });
});

describe('Every alarm', () => {
  it('says what it means, is silent without traffic, and stays within CloudWatch’s limit', () => {
    for (const { Properties } of alarms().values()) {
      expect(Properties.AlarmDescription).toMatch(/^.{40,}\.$/);
      expect(Properties.TreatMissingData).toBe('notBreaching');
      const metrics: Query[] = Properties.Metrics ?? [];
      expect(metrics.filter(({ MetricStat }) => MetricStat).length).toBeLessThanOrEqual(10);
    }
  });

  it('goes to a topic of the settings too, when it is raised and when it is over', () => {
    const alarmTopicArn = 'arn:aws:sns:eu-west-1:123456789012:on-call';
    for (const { Properties } of alarms({ ...production, alarmTopicArn }).values()) {
      expect(Properties.AlarmActions.map(target)).toEqual(['AlarmTopic', alarmTopicArn]);
      expect(Properties.OKActions).toEqual([alarmTopicArn]);
    }
  });

  it('goes to the topic when an address is set, and nowhere otherwise', () => {
    for (const { Properties } of alarms(production).values()) {
      expect(Properties.AlarmActions.map(target)).toEqual(['AlarmTopic']);
    }
    for (const { Properties } of alarms().values()) {
      expect(Properties).not.toHaveProperty('AlarmActions');
    }
  });
});

describe('The alarm topic', () => {
  const only = (type: string) => {
    const [[, resource] = []] = resourcesOf(synthesise(production), type);
    return resource?.Properties;
  };
  const alarmsOfStack = {
    Effect: 'Allow',
    Principal: { Service: 'cloudwatch.amazonaws.com' },
    Condition: { ArnLike: { 'aws:SourceArn': expect.anything() } },
  };

  it('mails its messages to the address', () => {
    expect(only('AWS::SNS::Subscription')).toMatchObject({
      Protocol: 'email',
      Endpoint: 'operator@example.com',
    });
  });

  it('is encrypted with a key that alarms of this stack may use, and rotates', () => {
    const keys = resourcesOf(synthesise(production), 'AWS::KMS::Key');
    const key = keys.get('AlarmTopicKey')?.Properties;

    expect(target(only('AWS::SNS::Topic').KmsMasterKeyId)).toBe('AlarmTopicKey');
    expect(key.EnableKeyRotation).toBe(true);
    expect(key.KeyPolicy.Statement).toContainEqual({
      ...alarmsOfStack,
      Action: ['kms:Decrypt', 'kms:GenerateDataKey*'],
      Resource: '*',
    });
  });

  it('takes messages from alarms of this stack, and from nobody without TLS', () => {
    const { Statement } = only('AWS::SNS::TopicPolicy').PolicyDocument;

    expect(Statement).toContainEqual(
      expect.objectContaining({ ...alarmsOfStack, Action: 'sns:Publish' }),
    );
    expect(JSON.stringify(Statement)).toContain(':alarm:accounts-*');
    expect(Statement).toContainEqual(
      expect.objectContaining({
        Effect: 'Deny',
        Principal: '*',
        Condition: { Bool: { 'aws:SecureTransport': 'false' } },
      }),
    );
  });

  it('does not exist without an address', () => {
    expect(resourcesOf(synthesise(), 'AWS::SNS::Topic').size).toBe(0);
    expect(resourcesOf(synthesise(), 'AWS::KMS::Key').size).toBe(0);
  });
});

describe('The alarms of a service that sends mails', () => {
  const mailing = { mailFrom: 'a@example.com', resetUrl: 'https://app.example.com/' };

  it('are raised by a mail that will not be sent again', () => {
    expect(watched('UnsentMails', mailing)).toEqual([
      'ApproximateNumberOfMessagesVisible of SendMailUnsent',
      'DestinationDeliveryFailures of SendMailFunction',
      'LostNotices of ',
    ]);
    expect(alarms().has('UnsentMailsAlarm')).toBe(false);
  });

  it('count mails that were lost, in the logs of all functions that hand mails over', () => {
    expect(filters('LostNotices', mailing)).toEqual(
      functionsOf(mailing)
        .filter(({ uses }) => uses.has('mail'))
        .map((each) => [idOf(each, 'Logs'), '"mail-not-handed-over"']),
    );
  });

  it('are raised by errors and throttles of the function that mails', () => {
    expect([...alarms(mailing).keys()]).toEqual(
      expect.arrayContaining(['SendMailErrorsAlarm', 'SendMailThrottlesAlarm']),
    );
  });
});
