import { describe, expect, it } from 'vitest';
import { auditPublisher } from '../../../infra/uses.ts';
import { idOf, production, resourcesOf, synthesise, target } from './template.ts';

type Settings = Readonly<Record<string, unknown>>;
const on = { events: 'on' };
const find = (type: string, id: string, settings: Settings = on) =>
  resourcesOf(synthesise(settings), type).get(id)?.Properties;
const idsOf = (type: string, settings: Settings = on) => [
  ...resourcesOf(synthesise(settings), type).keys(),
];

interface Statement {
  readonly Action: string | string[];
  readonly Resource: unknown;
}

describe('The events of the audit trail', () => {
  it.each([{}, production])('are off unless the settings say otherwise: %j', (settings) => {
    expect(idsOf('AWS::Events::EventBus', settings)).toEqual([]);
    expect(idsOf('AWS::Lambda::EventSourceMapping', settings)).toEqual([]);
    expect(find('AWS::DynamoDB::Table', 'AuditTable', settings)).not.toHaveProperty(
      'StreamSpecification',
    );
  });

  it('come from a stream of the audit table, and of no other one, with both images', () => {
    expect(find('AWS::DynamoDB::Table', 'AuditTable')?.StreamSpecification).toEqual({
      StreamViewType: 'NEW_AND_OLD_IMAGES',
    });
    expect(find('AWS::DynamoDB::Table', 'UsersTable')).not.toHaveProperty('StreamSpecification');
  });

  it('come from the given stream of a table that is brought along', () => {
    const auditStreamArn =
      'arn:aws:dynamodb:eu-west-1:123456789012:table/audit-kept/stream/2026-11-23T20:00:00.000';
    const names = { usersTableName: 'users-kept', auditTableName: 'audit-kept', auditStreamArn };
    const settings = { ...on, ...names };
    const [mapping] = resourcesOf(synthesise(settings), 'AWS::Lambda::EventSourceMapping').values();

    expect(mapping?.Properties.EventSourceArn).toBe(auditStreamArn);
    const policy = find('AWS::IAM::Policy', 'PublishAuditRoleDefaultPolicy', settings);
    expect(JSON.stringify(policy)).toContain(auditStreamArn);
  });

  it('are on a bus with the name of the stack, which is put out with the queue', () => {
    const outputs = Object.entries(synthesise(on).findOutputs('*')).map(([name, { Value }]) => [
      name,
      target(Value),
    ]);

    expect(find('AWS::Events::EventBus', 'EventBus')).toEqual({ Name: 'accounts' });
    expect(Object.fromEntries(outputs)).toMatchObject({
      EventBusName: 'EventBus',
      RefusedEventsQueueUrl: 'PublishAuditUnsent',
    });
  });
});

describe('The function that publishes', () => {
  it('gets each record again for a day, from the one that failed on, and then a message is left', () => {
    const [mapping] = resourcesOf(synthesise(on), 'AWS::Lambda::EventSourceMapping').values();
    const { FunctionName, EventSourceArn, DestinationConfig, ...others } =
      mapping?.Properties ?? {};

    expect([FunctionName, EventSourceArn].map(target)).toEqual([
      'PublishAuditFunction',
      'AuditTable',
    ]);
    expect(target(DestinationConfig.OnFailure.Destination)).toBe('PublishAuditUnsent');
    expect(others).toEqual({
      BatchSize: 100,
      BisectBatchOnFunctionError: true,
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      MaximumRecordAgeInSeconds: 86_400,
      StartingPosition: 'TRIM_HORIZON',
    });
  });

  it('may read the stream and what replays list, fill the bus and the queue, and nothing else', () => {
    const { PolicyDocument } = find('AWS::IAM::Policy', 'PublishAuditRoleDefaultPolicy') ?? {};
    const allowed = (PolicyDocument.Statement as Statement[]).flatMap(({ Action, Resource }) =>
      [Action].flat().map((action) => `${action} on ${target(Resource)}`),
    );

    expect(allowed.sort()).toEqual(
      [
        'dynamodb:DescribeStream on AuditTable',
        'dynamodb:GetRecords on AuditTable',
        'dynamodb:GetShardIterator on AuditTable',
        'dynamodb:ListStreams on *',
        'dynamodb:Query on AuditTable/index/by_resource_id',
        'events:PutEvents on EventBus',
        'logs:CreateLogStream on PublishAuditLogs',
        'logs:PutLogEvents on PublishAuditLogs',
        'sqs:GetQueueAttributes on PublishAuditUnsent',
        'sqs:GetQueueUrl on PublishAuditUnsent',
        'sqs:SendMessage on PublishAuditUnsent',
        'xray:PutTelemetryRecords on *',
        'xray:PutTraceSegments on *',
      ].sort(),
    );
  });

  it('is told the bus, the source and the queue', () => {
    const { Environment } = find('AWS::Lambda::Function', idOf(auditPublisher, 'Function')) ?? {};
    const variables = Object.entries(Environment.Variables).map(([name, value]) => [
      name,
      target(value),
    ]);

    expect(Object.fromEntries(variables)).toMatchObject({
      AUDIT_TABLE: 'AuditTable',
      EVENTS_URL: 'https://events.AWS::Region.AWS::URLSuffix/',
      EVENT_BUS: 'EventBus',
      EVENT_SOURCE: 'accounts',
      REFUSED_EVENTS_QUEUE_URL: 'PublishAuditUnsent',
    });
  });

  it('keeps what the bus refuses encrypted for 14 days', () => {
    expect(find('AWS::SQS::Queue', 'PublishAuditUnsent')).toEqual({
      MessageRetentionPeriod: 14 * 86_400,
      SqsManagedSseEnabled: true,
    });
  });
});

describe('An alarm', () => {
  const alarm = (name: string, settings: Settings = on) =>
    find('AWS::CloudWatch::Alarm', `${name}Alarm`, settings);

  it.each(['off', 'paused', 'on'])(
    'is raised at once by tampering, with the seal %s',
    (auditSeal) => {
      const filters = [
        ...resourcesOf(synthesise({ ...on, auditSeal }), 'AWS::Logs::MetricFilter').values(),
      ]
        .map(({ Properties }) => Properties)
        .filter(({ FilterPattern }) => FilterPattern === '"audit-trail-broken"');

      expect(alarm('AuditTrailBroken', { ...on, auditSeal })).toMatchObject({
        MetricName: 'BrokenAuditTrails',
        Threshold: 1,
        EvaluationPeriods: 1,
      });
      expect(filters.map(({ LogGroupName }) => target(LogGroupName))).toEqual([
        ...(auditSeal === 'on' ? ['SealAuditLogs'] : []),
        'PublishAuditLogs',
      ]);
    },
  );

  it('is raised where the stream is ten minutes behind', () => {
    expect(alarm('EventsBehind')).toMatchObject({
      MetricName: 'IteratorAge',
      Statistic: 'Maximum',
      Threshold: 600_000,
      EvaluationPeriods: 1,
    });
  });

  it('is raised by events that the bus refused, and by errors of the function', () => {
    const { Dimensions, MetricName } = alarm('RefusedEvents') ?? {};

    expect(MetricName).toBe('ApproximateNumberOfMessagesVisible');
    expect(target(Dimensions[0].Value)).toBe('PublishAuditUnsent');
    expect(alarm('PublishAuditErrors')).toMatchObject({ MetricName: 'Errors', Threshold: 1 });
  });
});
