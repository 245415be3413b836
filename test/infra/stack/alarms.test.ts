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
  BrokenAuditTrails: { events: 'on' },
};

it.each(Object.entries(logAlarms))(
  'Lines of %s are counted once, in the log of all functions, where one writes them: %j',
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

it('Throttled tables raise alarms, and there is a dashboard, in production alone', () => {
  const watchers = (context: object) =>
    [...alarms(context).keys()].filter((id) => id.includes('Throttles')).length +
    resourcesOf(synthesise({ ...context }), 'AWS::CloudWatch::Dashboard').size;

  expect([watchers({}), watchers(production)]).toEqual([0, 4]);
});

it.each([
  [{}, ['POST /api/login']],
  [everything, ['POST /api/login', 'POST /api/login/identity']],
])('Failed logins are counted on each route that logs in', (settings, routes) => {
  const filters = resourcesOf(synthesise(settings), 'AWS::Logs::MetricFilter');

  for (const id of ['AccessLogsLogins', 'AccessLogsFailedLogins']) {
    const { FilterPattern } = filters.get(id)?.Properties ?? {};
    expect([...FilterPattern.matchAll(/routeKey = "(.*?)"/g)].map(([, key]) => key)).toEqual(
      routes,
    );
  }
});

it('The alarm of a sealer that is behind says for how long it waits', () => {
  const { Properties } = alarms(production).get('AuditSealBehindAlarm') ?? {};
  const { DatapointsToAlarm, Metrics, AlarmDescription } = Properties ?? {};

  const minutes = (DatapointsToAlarm * Metrics[1].MetricStat.Period) / 60;
  expect(AlarmDescription).toMatch(new RegExp(`^For ${minutes} minutes`));
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

  it('is silent without traffic, but for that of a sealer which never runs', () => {
    const raised = [...alarms(everything)]
      .filter(([, { Properties }]) => Properties.TreatMissingData !== 'notBreaching')
      .map(([id]) => id);

    expect(raised).toEqual(['AuditSealBehindAlarm']);
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

it('The alarm topic does not exist without an address', () => {
  expect(resourcesOf(synthesise(), 'AWS::SNS::Topic').size).toBe(0);
  expect(resourcesOf(synthesise(), 'AWS::KMS::Key').size).toBe(0);
});
