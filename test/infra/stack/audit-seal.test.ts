import { describe, expect, it } from 'vitest';
import { production, resourcesOf, synthesise } from './template.ts';

type Settings = Readonly<Record<string, unknown>>;
const on = { auditSeal: 'on' };
const find = (type: string, id: string, settings: Settings = on) =>
  resourcesOf(synthesise(settings), type).get(id);
const bucket = (settings: Settings = on) => find('AWS::S3::Bucket', 'AuditArchive', settings);

describe('The seal of the audit trail', () => {
  it('is created if the settings say so, and in production by default', () => {
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
});

describe('The archive', () => {
  it('is not locked in production if the settings say so, and outlives the stack', () => {
    const open = bucket({ ...production, auditLockDays: 0 });

    expect(open?.Properties.VersioningConfiguration).toEqual({ Status: 'Enabled' });
    expect(open?.Properties).not.toHaveProperty('ObjectLockEnabled');
    expect(open?.DeletionPolicy).toBe('Retain');
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

  it('keeps objects for ever or as long as the settings say, and deleted objects a month longer', () => {
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

  it('is emptied in development, so that the stack can be deleted', () => {
    expect(bucket()?.Properties).not.toHaveProperty('ObjectLockEnabled');
    expect(bucket()?.DeletionPolicy).toBe('Delete');
    expect(resourcesOf(synthesise(on), 'Custom::S3AutoDeleteObjects').size).toBe(1);
  });
});

describe('The archive of an earlier stack', () => {
  const taken = {
    usersTableName: 'users-kept',
    auditTableName: 'audit-kept',
    auditArchiveBucketName: 'archive-kept',
    auditSealKeyArn: 'arn:aws:kms:eu-west-1:123456789012:key/kept',
  };
  const settings = { ...production, ...taken };

  it('is left with the policy that lets each object be written once', () => {
    const policy = (each: Settings) => find('AWS::S3::BucketPolicy', 'AuditArchivePolicy', each);

    expect(policy(production)?.DeletionPolicy).toBe('Retain');
    expect(JSON.stringify(policy(production)?.Properties)).toContain('"Sid":"WriteOnce"');
    expect(policy(on)?.DeletionPolicy).not.toBe('Retain');
  });

  it('is used with its key, and a stack that uses it has no archive of its own', () => {
    const template = synthesise(settings);
    const { Resources } = template.toJSON();

    for (const type of ['AWS::S3::Bucket', 'AWS::S3::BucketPolicy'] as const) {
      expect([...resourcesOf(template, type).keys()]).toEqual([]);
    }
    // CloudFormation updates no resource to another type.
    const own = synthesise(production);
    const replaced = [
      ...Object.keys(own.findResources('AWS::S3::Bucket')),
      ...Object.keys(own.findResources('AWS::KMS::Key')).filter((id) => /^AuditSealKey/.test(id)),
    ];
    expect(replaced.map((id) => Resources[id]?.Type)).toEqual(
      Array(2).fill('AWS::CloudFormation::WaitConditionHandle'),
    );
    const sealer = find('AWS::Lambda::Function', 'SealAuditFunction', settings)?.Properties;
    expect(sealer?.Environment.Variables).toMatchObject({
      AUDIT_ARCHIVE_BUCKET: 'archive-kept',
      AUDIT_SEAL_KEY: taken.auditSealKeyArn,
      AUDIT_ARCHIVE_TAKEN_OVER: 'yes',
      AUDIT_LOCK_DAYS: '365',
    });
  });

  it('has rules and a lock that only the sealer reads', () => {
    const readers = (each: Settings) =>
      [...resourcesOf(synthesise(each), 'AWS::IAM::Policy')]
        .filter(([, policy]) => JSON.stringify(policy).includes('s3:GetLifecycleConfiguration'))
        .map(([id]) => id);

    expect(readers(settings)).toEqual(['SealAuditRoleDefaultPolicy']);
    expect(readers(production)).toEqual([]);
  });
});

it('Functions that seal, write entries or show the seal know for how many days entries are kept', () => {
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

it('Only the sealer and the function that compares an entry read the archive, and only the sealer writes it', () => {
  const allowed = (action: string) =>
    [...resourcesOf(synthesise(on), 'AWS::IAM::Policy')]
      .filter(([, policy]) => JSON.stringify(policy).includes(`"${action}"`))
      .map(([id]) => id)
      .sort();
  const readers = ['AuditSealEntryRoleDefaultPolicy', 'SealAuditRoleDefaultPolicy'];

  expect(allowed('s3:GetObjectVersion')).toEqual(readers);
  expect(allowed('s3:ListBucketVersions')).toEqual(readers);
  expect(allowed('s3:PutObject')).toEqual(['SealAuditRoleDefaultPolicy']);
  expect(allowed('kms:Sign')).toEqual(['SealAuditRoleDefaultPolicy']);
});

it('The function that shows the seal, and its route, exist if the trail is sealed', () => {
  const shown = (auditSeal: string) =>
    JSON.stringify(synthesise({ auditSeal }).toJSON()).includes('/api/admin/audit-seal');

  expect(['off', 'paused', 'on'].map(shown)).toEqual([false, true, true]);
});
