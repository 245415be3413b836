import { describe, expect, it } from 'vitest';
import type { TablePermission } from '../../../infra/uses.ts';
import { functionsOf, idOf, production, resourcesOf, synthesise, target } from './template.ts';

const functions = functionsOf();

const alarms = (context = {}) => resourcesOf(synthesise(context), 'AWS::CloudWatch::Alarm');
const mailing = { mailFrom: 'a@example.com', resetUrl: 'https://app.example.com/' };

const writesAudit = ({ table, actions }: TablePermission) =>
  table === 'audit' && actions.includes('dynamodb:PutItem');

const filters = (name: string, context = {}) =>
  [...resourcesOf(synthesise(context), 'AWS::Logs::MetricFilter').values()]
    .map(({ Properties }) => Properties)
    .filter(({ MetricTransformations: [{ MetricName }] }) => MetricName === name)
    .map(({ LogGroupName, FilterPattern }) => [target(LogGroupName), FilterPattern]);

describe('The lines that alarms count', () => {
  it('are those of every function that writes audit entries', () => {
    expect(filters('UnwrittenAuditEntries')).toEqual(
      functions
        .filter(({ permissions }) => permissions.some(writesAudit))
        .map((each) => [idOf(each, 'Logs'), '"audit-entry-not-written"']),
    );
  });

  it('are those of every function that hands mails over, where the service sends any', () => {
    expect(filters('LostNotices', mailing)).toEqual(
      functionsOf(mailing)
        .filter(({ uses }) => uses.has('mail'))
        .map((each) => [idOf(each, 'Logs'), '"mail-not-handed-over"']),
    );
    expect(alarms().has('UnsentMailsAlarm')).toBe(false);
  });
});

describe('Every alarm', () => {
  it('says what it means, is silent without traffic, and stays within CloudWatch’s limit', () => {
    for (const { Properties } of alarms().values()) {
      expect(Properties.AlarmDescription).toMatch(/^.{40,}\.$/);
      expect(Properties.TreatMissingData).toBe('notBreaching');
      const metrics: { MetricStat?: object }[] = Properties.Metrics ?? [];
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

it('The alarm topic does not exist without an address', () => {
  expect(resourcesOf(synthesise(), 'AWS::SNS::Topic').size).toBe(0);
  expect(resourcesOf(synthesise(), 'AWS::KMS::Key').size).toBe(0);
});
