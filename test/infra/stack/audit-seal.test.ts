import { describe, expect, it } from 'vitest';
import { production, resourcesOf, synthesise, target } from './template.ts';

type Settings = Readonly<Record<string, unknown>>;
const on = { auditSeal: 'on' };
const find = (type: string, id: string, settings: Settings = on) =>
  resourcesOf(synthesise(settings), type).get(id);
const bucket = (settings: Settings = on) => find('AWS::S3::Bucket', 'AuditArchive', settings);

interface Statement {
  readonly Effect: string;
  readonly Action: string | string[];
  readonly Resource: unknown;
  readonly Condition?: unknown;
}

const permissions = (
  id = 'SealAudit',
  settings: Settings = on,
): readonly (readonly [string, unknown])[] => {
  const policy = find('AWS::IAM::Policy', `${id}RoleDefaultPolicy`, settings)?.Properties
    .PolicyDocument;
  return (policy.Statement as Statement[]).flatMap(({ Effect, Action, Resource, Condition }) =>
    [Action]
      .flat()
      .map((action) => [`${Effect} ${action} on ${[Resource].flat().map(target)}`, Condition]),
  );
};

const policyOf = (settings: Settings = on): readonly Statement[] =>
  find('AWS::S3::BucketPolicy', 'AuditArchivePolicy', settings)?.Properties.PolicyDocument
    .Statement;

describe('The seal of the audit trail', () => {
  it('is made where the settings say so, in production without being told', () => {
    const bucketsOf = (settings = {}) => [
      ...resourcesOf(synthesise(settings), 'AWS::S3::Bucket').keys(),
    ];

    expect(bucketsOf()).toEqual([]);
    expect(bucketsOf(on)).toEqual(['AuditArchive']);
    expect(bucketsOf(production)).toEqual(['AuditArchive']);
    const abandoned = { auditSeal: 'off', abandonAuditSeal: 'yes' };
    expect(bucketsOf({ ...production, ...abandoned })).toEqual([]);
  });

  it('keeps bucket, key and function while it is paused, runs nothing and raises no alarm', () => {
    const paused = synthesise({ auditSeal: 'paused' });
    const alarms = (template: ReturnType<typeof synthesise>) =>
      [...resourcesOf(template, 'AWS::CloudWatch::Alarm').keys()].filter((id) =>
        /Audit(?:SealBehind|Trail)/.test(id),
      );
    const rule = (template: ReturnType<typeof synthesise>) =>
      resourcesOf(template, 'AWS::Events::Rule').get('SealAuditSchedule')?.Properties.State;
    const kept = ['AWS::S3::Bucket', 'AWS::KMS::Key', 'AWS::Lambda::Function'] as const;

    for (const type of kept) {
      expect([...resourcesOf(paused, type).keys()]).toEqual([
        ...resourcesOf(synthesise(on), type).keys(),
      ]);
    }
    expect([rule(paused), rule(synthesise(on))]).toEqual(['DISABLED', 'ENABLED']);
    expect(alarms(paused)).toEqual([]);
    expect(alarms(synthesise(on))).not.toEqual([]);
  });

  it('is put out for the operator’s commands', () => {
    const outputs = Object.entries(synthesise(on).findOutputs('*')).map(([name, { Value }]) => [
      name,
      target(Value),
    ]);

    expect(Object.fromEntries(outputs)).toMatchObject({
      AuditArchiveBucketName: 'AuditArchive',
      AuditSealKeyArn: 'AuditSealKey',
    });
  });
});

describe('The archive', () => {
  it('keeps versions, encrypted, and is open to nobody', () => {
    expect(bucket()?.Properties).toMatchObject({
      VersioningConfiguration: { Status: 'Enabled' },
      BucketEncryption: {
        ServerSideEncryptionConfiguration: [
          { ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } },
        ],
      },
      PublicAccessBlockConfiguration: {
        BlockPublicAcls: true,
        BlockPublicPolicy: true,
        IgnorePublicAcls: true,
        RestrictPublicBuckets: true,
      },
    });
  });

  it('takes no object over another, and nothing without TLS', () => {
    const denied = policyOf(production).map(({ Effect, Action, Condition }) => [
      Effect,
      Action,
      Condition,
    ]);

    expect(denied).toEqual([
      ['Deny', 's3:*', { Bool: { 'aws:SecureTransport': 'false' } }],
      ['Deny', 's3:*', { NumericLessThan: { 's3:TlsVersion': 1.2 } }],
      ['Deny', 's3:PutObject', { Null: { 's3:if-none-match': 'true' } }],
    ]);
  });

  it('is locked in production for as long as the settings say, and outlives the stack', () => {
    const locked = bucket({ ...production, auditLockDays: 30 });

    expect(locked?.Properties).toMatchObject({
      ObjectLockEnabled: true,
      ObjectLockConfiguration: {
        ObjectLockEnabled: 'Enabled',
        Rule: { DefaultRetention: { Mode: 'COMPLIANCE', Days: 30 } },
      },
    });
    expect(locked?.DeletionPolicy).toBe('Retain');
    const shown = find('AWS::Lambda::Function', 'AuditSealGetFunction', production)?.Properties;
    expect(shown?.Environment.Variables).toMatchObject({ AUDIT_LOCK_DAYS: '365' });
    expect(bucket(production)?.Properties.ObjectLockConfiguration.Rule).toEqual({
      DefaultRetention: { Mode: 'COMPLIANCE', Days: 365 },
    });
  });

  it('keeps objects for ever, or as long as the settings say, and deleted ones a month more', () => {
    const days = { auditRetentionDays: 30, auditArchiveDays: 400 };

    expect(bucket(production)?.Properties).not.toHaveProperty('LifecycleConfiguration');
    expect(bucket({ ...production, ...days })?.Properties.LifecycleConfiguration).toEqual({
      Rules: [
        {
          Id: 'LeaveArchive',
          Prefix: 'audit-archive/',
          Status: 'Enabled',
          ExpirationInDays: 400,
          NoncurrentVersionExpiration: { NoncurrentDays: 31 },
        },
        {
          Id: 'RemoveMarks',
          Prefix: 'audit-archive/',
          Status: 'Enabled',
          ExpiredObjectDeleteMarker: true,
        },
      ],
    });
  });

  it('is emptied in development, so that the stack can go', () => {
    expect(bucket()?.Properties).not.toHaveProperty('ObjectLockEnabled');
    expect(bucket()?.DeletionPolicy).toBe('Delete');
    expect(resourcesOf(synthesise(on), 'Custom::S3AutoDeleteObjects').size).toBe(1);
  });
});

describe('The key', () => {
  it('signs by Ed25519, in production beyond the end of the stack', () => {
    expect(find('AWS::KMS::Key', 'AuditSealKey')?.Properties).toMatchObject({
      KeySpec: 'ECC_NIST_EDWARDS25519',
      KeyUsage: 'SIGN_VERIFY',
    });
    expect(find('AWS::KMS::Key', 'AuditSealKey')?.DeletionPolicy).toBe('Delete');
    expect(find('AWS::KMS::Key', 'AuditSealKey', production)?.DeletionPolicy).toBe('Retain');
  });
});

/** The condition that the partition key is this one. */
const ofKey = (key: string) => ({
  'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [key] },
});

describe('The sealer', () => {
  it('may read the audit table, sign, read and write below one prefix and one item, read and remove another, and nothing else', () => {
    const signing = {
      StringEquals: { 'kms:SigningAlgorithm': 'ED25519_SHA_512', 'kms:MessageType': 'RAW' },
    };

    expect(permissions()).toEqual([
      ['Allow logs:CreateLogStream on SealAuditLogs', undefined],
      ['Allow logs:PutLogEvents on SealAuditLogs', undefined],
      ['Allow xray:PutTraceSegments on *', undefined],
      ['Allow xray:PutTelemetryRecords on *', undefined],
      ['Allow dynamodb:Query on AuditTable/index/by_created_at', undefined],
      ['Allow dynamodb:BatchGetItem on AuditTable', undefined],
      ['Allow dynamodb:GetItem on UsersTable', ofKey('audit-seal')],
      ['Allow dynamodb:PutItem on UsersTable', ofKey('audit-seal')],
      ['Allow dynamodb:GetItem on UsersTable', ofKey('audit-seal-check')],
      ['Allow dynamodb:DeleteItem on UsersTable', ofKey('audit-seal-check')],
      ['Allow s3:GetObjectVersion on AuditArchive/audit-archive/*', undefined],
      ['Allow s3:ListBucket on AuditArchive', undefined],
      [
        'Allow s3:ListBucketVersions on AuditArchive',
        { StringEquals: { 's3:prefix': 'audit-archive/' } },
      ],
      ['Allow s3:PutObject on AuditArchive/audit-archive/*', undefined],
      ['Allow kms:Sign on AuditSealKey', signing],
      ['Allow kms:GetPublicKey on AuditSealKey', undefined],
    ]);
  });

  it('who writes entries, and who shows the seal are told for how many days what is kept', () => {
    const days = { ...on, auditRetentionDays: 30, auditArchiveDays: 400 };
    const variablesOf = (id: string) =>
      find('AWS::Lambda::Function', id, days)?.Properties.Environment.Variables;

    expect(variablesOf('SealAuditFunction')).toMatchObject({ AUDIT_ARCHIVE_DAYS: '400' });
    expect(variablesOf('AuthLoginFunction')).toMatchObject({ AUDIT_RETENTION_DAYS: '30' });
    expect(variablesOf('AuditSealGetFunction')).toMatchObject({
      AUDIT_RETENTION_DAYS: '30',
      AUDIT_ARCHIVE_DAYS: '400',
      AUDIT_LOCK_DAYS: '0',
    });
  });

  it('and the function that shows the seal are the only ones that touch archive and key', () => {
    const policies = [...resourcesOf(synthesise(on), 'AWS::IAM::Policy')];
    const touching = policies.filter(([, policy]) =>
      /AuditArchive|AuditSealKey/.test(JSON.stringify(policy)),
    );

    expect(touching.map(([id]) => id)).toEqual([
      'AuditSealGetRoleDefaultPolicy',
      'SealAuditRoleDefaultPolicy',
    ]);
  });

  it('runs every five minutes', () => {
    const { Properties } = find('AWS::Events::Rule', 'SealAuditSchedule') ?? {};
    const { Environment } = find('AWS::Lambda::Function', 'SealAuditFunction')?.Properties ?? {};

    expect(Properties.ScheduleExpression).toBe('rate(5 minutes)');
    expect(target(Properties.Targets[0].Arn)).toBe('SealAuditFunction');
    const variables = Object.entries(Environment.Variables).map(([name, value]) => [
      name,
      target(value),
    ]);
    expect(Object.fromEntries(variables)).toMatchObject({
      AUDIT_TABLE: 'AuditTable',
      USERS_TABLE: 'UsersTable',
      AUDIT_ARCHIVE_BUCKET: 'AuditArchive',
      AUDIT_SEAL_KEY: 'AuditSealKey',
      AUDIT_SEAL_INTERVAL: '300',
      AUDIT_ARCHIVE_DAYS: '0',
    });
  });
});

describe('The function that shows the seal', () => {
  it.each(['on', 'paused'])(
    'may besides authenticating read one item and get the key, where it is %s',
    (auditSeal) => {
      expect(permissions('AuditSealGet', { auditSeal, sessionDays: 90 })).toEqual([
        ['Allow logs:CreateLogStream on AuditSealGetLogs', undefined],
        ['Allow logs:PutLogEvents on AuditSealGetLogs', undefined],
        ['Allow xray:PutTraceSegments on *', undefined],
        ['Allow xray:PutTelemetryRecords on *', undefined],
        ['Allow dynamodb:BatchGetItem on UsersTable', undefined],
        ['Allow dynamodb:UpdateItem on UsersTable', ofKey('sessions#*')],
        ['Allow dynamodb:GetItem on UsersTable', ofKey('audit-seal')],
        ['Allow secretsmanager:GetSecretValue on SigningSecret', undefined],
        ['Allow kms:GetPublicKey on AuditSealKey', undefined],
      ]);
    },
  );

  it('and the one that requests a check may write one other item and entries, and use neither key nor archive', () => {
    expect(permissions('AuditSealRequestCheck', { ...on, sessionDays: 90 })).toEqual([
      ['Allow logs:CreateLogStream on AuditSealRequestCheckLogs', undefined],
      ['Allow logs:PutLogEvents on AuditSealRequestCheckLogs', undefined],
      ['Allow xray:PutTraceSegments on *', undefined],
      ['Allow xray:PutTelemetryRecords on *', undefined],
      ['Allow dynamodb:BatchGetItem on UsersTable', undefined],
      ['Allow dynamodb:UpdateItem on UsersTable', ofKey('sessions#*')],
      ['Allow dynamodb:PutItem on UsersTable', ofKey('audit-seal-check')],
      ['Allow dynamodb:PutItem on AuditTable', undefined],
      ['Allow secretsmanager:GetSecretValue on SigningSecret', undefined],
    ]);
  });

  it('is told that there is a seal, as are the one that requests a check and the console', () => {
    const functions = [...resourcesOf(synthesise(on), 'AWS::Lambda::Function')];
    const told = functions.filter(
      ([, { Properties }]) => Properties.Environment?.Variables?.AUDIT_SEAL_KEY,
    );

    expect(told.map(([id]) => id).sort()).toEqual([
      'AuditSealGetFunction',
      'AuditSealRequestCheckFunction',
      'ConsoleFunction',
      'SealAuditFunction',
    ]);
  });

  it('and its route is not there where the trail is not sealed', () => {
    const shown = (auditSeal: string) =>
      JSON.stringify(synthesise({ auditSeal }).toJSON()).includes('/api/admin/audit-seal');

    expect(['off', 'paused', 'on'].map(shown)).toEqual([false, true, true]);
  });
});

describe('An alarm', () => {
  const alarm = (name: string) => find('AWS::CloudWatch::Alarm', `${name}Alarm`)?.Properties;

  it('is raised by the first sign that the trail is broken', () => {
    const filter = find('AWS::Logs::MetricFilter', 'SealAuditLogsBrokenAuditTrails')?.Properties;

    expect(alarm('AuditTrailBroken')).toMatchObject({
      MetricName: 'BrokenAuditTrails',
      Threshold: 1,
      EvaluationPeriods: 1,
    });
    expect([target(filter.LogGroupName), filter.FilterPattern]).toEqual([
      'SealAuditLogs',
      '"audit-trail-broken"',
    ]);
  });

  it('is raised when sealing falls behind by two runs, also when the sealer is never run', () => {
    const { Metrics, ...behind } = alarm('AuditSealBehind');

    expect(behind).toMatchObject({
      EvaluationPeriods: 3,
      DatapointsToAlarm: 3,
      TreatMissingData: 'breaching',
    });
    expect(Metrics[0].Expression).toBe('IF(runs - errors < 1, 1, 0)');
  });
});
