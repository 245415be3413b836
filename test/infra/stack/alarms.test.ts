import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { everything, production, resourcesOf, synthesise, target } from './template.ts';

const alarms = (context = {}) => resourcesOf(synthesise(context), 'AWS::CloudWatch::Alarm');
const mailing = { mailFrom: 'a@example.com', resetUrl: 'https://app.example.com/' };

const logAlarms = {
  UnwrittenAuditEntries: {},
  AdminsMade: {},
  Crashes: {},
  ReusedRefreshTokens: { sessionDays: 90 },
  LostNotices: mailing,
  WithheldMails: mailing,
  BrokenAuditTrails: { events: 'on' },
};

it.each(Object.entries(logAlarms))(
  'Lines of %s are counted once, in the log of all functions, if a function writes them: %j',
  (name, settings) => {
    const filters = (context: object) =>
      [...resourcesOf(synthesise({ ...context }), 'AWS::Logs::MetricFilter').values()]
        .filter(({ Properties }) => Properties.MetricTransformations[0].MetricName === name)
        .map(({ Properties }) => target(Properties.LogGroupName));
    const isAlwaysCounted = Object.keys(settings).length === 0;

    expect(filters(settings)).toEqual(['Logs']);
    expect(filters({})).toEqual(isAlwaysCounted ? ['Logs'] : []);
  },
);

it('In production, requests that the gateway refused without a function are counted', () => {
  const filter = (settings: object) =>
    resourcesOf(synthesise({ ...settings }), 'AWS::Logs::MetricFilter').get(
      'AccessLogsRefusedRequests',
    );

  expect(filter({})).toBeUndefined();
  expect(target(filter(production)?.Properties.LogGroupName)).toBe('AccessLogs');
  expect(filter(production)?.Properties.FilterPattern).toBe(
    '{ ($.status = "429") && ($.integrationStatus = "-") }',
  );
});

it('Requests that the throttle of posted entries refused are not counted, because they lock nobody out', () => {
  const filter = resourcesOf(
    synthesise({ ...production, machines: 'on' }),
    'AWS::Logs::MetricFilter',
  ).get('AccessLogsRefusedRequests');

  expect(filter?.Properties.FilterPattern).toBe(
    '{ ($.status = "429") && ($.integrationStatus = "-") && ($.routeKey != "POST /api/admin/audit-logs") }',
  );
});

describe('The description of an alarm', () => {
  interface Watching {
    readonly Period?: number;
    readonly Metrics?: readonly { readonly MetricStat?: { readonly Period: number } }[];
  }

  /** In minutes, the period of the first metric that the alarm reads. */
  const periodOf = ({ Period, Metrics = [] }: Watching): number =>
    (Period ?? Metrics.find(({ MetricStat }) => MetricStat)?.MetricStat?.Period ?? 0) / 60;

  it('says in how many minutes the alarm is raised, if these are more than one period', () => {
    const longer = [...alarms(everything)].filter(
      ([, { Properties }]) => Properties.EvaluationPeriods > 1,
    );

    expect(longer.length).toBeGreaterThan(2);
    for (const [id, { Properties }] of longer) {
      const { DatapointsToAlarm: reached, EvaluationPeriods: of, AlarmDescription } = Properties;
      const [minutes, most] = [reached, of].map((periods) => periods * periodOf(Properties));
      const said = minutes === most ? `For ${minutes} minutes` : `In ${minutes} of ${most} minutes`;
      expect(AlarmDescription, id).toContain(said);
    }
  });

  it.each([
    'UsersTableReadThrottles',
    'UsersTableWriteThrottles',
    'AuditTableWriteThrottles',
    'RefusedRequests',
  ])('says how many requests in how many minutes raise the alarm: %s', (name) => {
    const { Properties } = alarms(everything).get(`${name}Alarm`) ?? {};
    const { AlarmDescription, Threshold } = Properties ?? {};

    expect(AlarmDescription).toContain(`In ${periodOf(Properties ?? {})} minutes`);
    expect(AlarmDescription).toContain(`at least ${Threshold} `);
  });

  it('says how old an entry may become before it is on the bus', () => {
    const { Properties } = alarms(everything).get('EventsBehindAlarm') ?? {};
    const { AlarmDescription, Threshold } = Properties ?? {};

    expect(AlarmDescription).toMatch(
      new RegExp(`^An audit entry .* ${Threshold / 60_000} minutes`),
    );
  });
});

describe('Every alarm', () => {
  it('says what it means and where to look, and stays within CloudWatch’s limits', () => {
    for (const [id, { Properties }] of alarms(everything)) {
      expect(Properties.AlarmDescription).toMatch(/^.{40,1024}$/);
      expect(Properties.AlarmDescription, id).toMatch(
        /FunctionLogGroupName|access log|table|QueueUrl/,
      );
      const metrics: { MetricStat?: object }[] = Properties.Metrics ?? [];
      expect(metrics.filter(({ MetricStat }) => MetricStat).length).toBeLessThanOrEqual(10);
    }
  });

  it('ends with a section of infra/runbooks.md', () => {
    const headings = readFileSync('infra/runbooks.md', 'utf8').match(/(?<=^#+ ).+$/gm) ?? [];
    const anchors = headings.map((heading) => heading.toLowerCase().replaceAll(' ', '-'));
    for (const [id, { Properties }] of alarms(everything)) {
      const [, anchor] =
        / See infra\/runbooks\.md#([a-z-]+)\.$/.exec(Properties.AlarmDescription) ?? [];
      expect(anchors, id).toContain(anchor);
    }
  });

  it('is silent without traffic, except for the alarm of a sealer that never runs', () => {
    const raised = [...alarms(everything)]
      .filter(([, { Properties }]) => Properties.TreatMissingData !== 'notBreaching')
      .map(([id]) => id);

    expect(raised).toEqual(['AuditSealBehindAlarm']);
  });

  it('also goes to the topic of the settings, when it is raised and when it is over', () => {
    const alarmTopicArn = 'arn:aws:sns:eu-west-1:123456789012:on-call';
    for (const { Properties } of alarms({ ...production, alarmTopicArn }).values()) {
      expect(Properties.AlarmActions.map(target)).toEqual(['AlarmTopic', alarmTopicArn]);
      expect(Properties.OKActions).toEqual([alarmTopicArn]);
    }
  });
});
