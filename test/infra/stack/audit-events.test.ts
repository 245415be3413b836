import { describe, expect, it } from 'vitest';
import { production, resourcesOf, synthesise } from './template.ts';

type Settings = Readonly<Record<string, unknown>>;
const on = { events: 'on' };
const find = (type: string, id: string, settings: Settings = on) =>
  resourcesOf(synthesise(settings), type).get(id)?.Properties;
const idsOf = (type: string, settings: Settings = on) => [
  ...resourcesOf(synthesise(settings), type).keys(),
];

describe('The events of the audit trail', () => {
  it.each([{}, production])('are off unless the settings say otherwise: %j', (settings) => {
    expect(idsOf('AWS::Events::EventBus', settings)).toEqual([]);
    expect(idsOf('AWS::Lambda::EventSourceMapping', settings)).toEqual([]);
    expect(find('AWS::DynamoDB::Table', 'AuditTable', settings)).not.toHaveProperty(
      'StreamSpecification',
    );
  });

  it('come from the given stream of an existing table', () => {
    const auditStreamArn =
      'arn:aws:dynamodb:eu-west-1:123456789012:table/audit-kept/stream/2026-11-23T20:00:00.000';
    const names = { usersTableName: 'users-kept', auditTableName: 'audit-kept', auditStreamArn };
    const settings = { ...on, ...names };
    const [mapping] = resourcesOf(synthesise(settings), 'AWS::Lambda::EventSourceMapping').values();

    expect(mapping?.Properties.EventSourceArn).toBe(auditStreamArn);
    const policy = find('AWS::IAM::Policy', 'PublishAuditRoleDefaultPolicy', settings);
    expect(JSON.stringify(policy)).toContain(auditStreamArn);
  });
});

it.each(['off', 'paused', 'on'])(
  'The alarm of tampering exists whether the seal is off, paused or on: %s',
  (auditSeal) => {
    expect(
      find('AWS::CloudWatch::Alarm', 'AuditTrailBrokenAlarm', { ...on, auditSeal }),
    ).toBeDefined();
    expect(idsOf('AWS::Logs::MetricFilter', { ...on, auditSeal })).toContain(
      'LogsBrokenAuditTrails',
    );
  },
);
