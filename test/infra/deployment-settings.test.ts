import { describe, expect, it } from 'vitest';
import {
  deploymentSettings,
  functionVariables,
  SettingError,
} from '../../infra/deployment-settings.ts';
import { readDeploymentSettings } from '../../infra/read-deployment-settings.ts';
import { valuesIn } from '../../lib/ground/setting.ts';
import { serviceSettings } from '../../lib/ground/settings.ts';

const certificateArn = 'arn:aws:acm:eu-west-1:123456789012:certificate/0a1b2c3d';

describe('readDeploymentSettings', () => {
  it('has a default for every setting that the tables describe', () => {
    const settings = readDeploymentSettings({});

    expect(Object.keys(settings).sort()).toEqual(Object.keys(deploymentSettings).sort());
    expect(settings).toMatchObject({
      stage: 'development',
      tags: '{}',
      alarmEmail: undefined,
      auditSeal: 'off',
      auditLockDays: 365,
      throttleRate: 500,
      ...valuesIn({}, serviceSettings),
    });
  });

  it.each(['production', ' production '])(
    'has the settings of a public service in stage %j without further settings',
    (stage) => {
      expect(readDeploymentSettings({ stage })).toMatchObject({
        stage: 'production',
        v1Users: 'off',
        docs: 'off',
        console: 'on',
        auditSeal: 'on',
        accounts: 'private',
        passwordMinLength: 15,
        loginFailuresPerAddress: 100,
        registrationsPerAddress: 20,
        sessionDays: 90,
        selfDeletion: 'on',
        // Mails are left to whoever deploys.
        mailFrom: '',
      });
    },
  );

  it('prefers given settings to the settings of its stage', () => {
    const given = { stage: 'production', passwordMinLength: '8' };

    expect(readDeploymentSettings(given)).toMatchObject({ passwordMinLength: 8, docs: 'off' });
  });

  // biome-ignore format: a table
  it.each([
    ['stage', 'production', 'production'],
    ['corsOrigins', ' https://a.example, https://b.example ', 'https://a.example, https://b.example'],
    ['alarmEmail', 'operator@example.com', 'operator@example.com'],
    ['auditLockDays', '30', 30],
    ['auditLockDays', '0', 0],
    ['tags', { team: 'identity', 'cost:center': '12 34/a' }, '{"team":"identity","cost:center":"12 34/a"}'],
    ['tags', '{"team":""}', '{"team":""}'],
    ['v1ReservedConcurrency', '5', 5],
    ['v1ReservedConcurrency', 'none', 'none'],
    ['bcryptCost', 10, 10],
    ['bcryptCost', '14', 14],
    // As much as the whole API takes is no more than it takes.
    ['credentialsThrottleRate', '500', 500],
    ['credentialsThrottleBurst', '1000', 1000],
  ])('reads %s from %o', (name, given, expected) => {
    expect(readDeploymentSettings({ [name]: given })).toHaveProperty(name, expected);
  });

  const aWholeNumber = (from: number, to: number) => `must be a whole number from ${from} to ${to}`;
  const origins =
    'must be * or a comma-separated list of origins without a final slash, such as https://app.example.com';

  // biome-ignore format: a table
  it.each([
    ['stage', 'prod', 'must be one of development, production'],
    ['stage', '', 'must be one of development, production'],
    ['corsOrigins', '', origins],
    ['corsOrigins', ['https://app.example.com'], 'must be text or a number'],
    ['alarmEmail', 'operator', 'must be an email address'],
    ['domainName', 'https://accounts.example.com', 'must be a host name in lower case such as accounts.example.com'],
    ['certificateArn', 'accounts.example.com', 'must be the ARN of a certificate in AWS Certificate Manager'],
    ['throttleRate', '0', aWholeNumber(1, 100_000)],
    ['throttleBurst', '100001', aWholeNumber(1, 100_000)],
    ['v1Users', true, 'must be one of on, off'],
    ['auditLockDays', '36501', aWholeNumber(0, 36_500)],
    ['v1ReservedConcurrency', '0', 'must be none, or a whole number from 1 to 999'],
    ['bcryptCost', '9', aWholeNumber(10, 14)],
    ['bcryptCost', '15', aWholeNumber(10, 14)],
    ['bcryptCost', null, 'must be text or a number'],
    ['credentialsThrottleRate', '501', 'must not be above throttleRate, which is 500'],
    ['credentialsThrottleBurst', '1001', 'must not be above throttleBurst, which is 1000'],
    ['usersTableName', 'my table', 'must be the name of a DynamoDB table'],
    ['alarmTopicArn', 'arn:aws:sns:eu-west-1:1:alarms', 'must be the ARN of a topic in Amazon SNS'],
    ['edge', 'cloudfront', 'requires domainName and certificateArn'],
    ['resetUrl', 'https://app.example.com/reset', 'requires mailFrom'],
    ['tags', '{"team": identity}', 'must be an object of at most 40 tags as AWS allows them; it is not JSON: line 1, column 10'],
    ['userAttributes', [{ name: 'plan', type: 'enum' }], 'must be a JSON list of attributes as in functions/README.md; attribute 1 (plan): type must be one of text, number, boolean, choice, date'],
    ['userAttributes', '[{"name": plan}]', 'must be a JSON list of attributes as in functions/README.md; it is not JSON: line 1, column 11'],
  ])('refuses %s %o and names the rule', (name, given, rule) => {
    expect(() => readDeploymentSettings({ [name]: given })).toThrow(new SettingError(name, rule));
    expect(new SettingError(name, rule).message).toBe(`Setting ${name} ${rule}`);
  });

  it('reads passkeys from an object', () => {
    const passkeys = { rpId: 'example.com', origins: ['https://example.com'] };

    expect(readDeploymentSettings({ passkeys, sessionDays: 90 }).passkeys).toBe(
      '{"rpId":"example.com","origins":["https://example.com"]}',
    );
    expect(() => readDeploymentSettings({ passkeys })).toThrow(
      new SettingError('passkeys', 'requires that sessionDays is not 0'),
    );
  });

  it.each([
    ['team'],
    null,
    { team: 1 },
    { '': 'x' },
    { 'aws:team': 'x' },
    { team: 'a;b' },
    { team: 'x'.repeat(257) },
    Object.fromEntries(Array.from({ length: 41 }, (_, i) => [`key-${i}`, ''])),
  ])('refuses the tags %j', (tags) => {
    const rule = 'must be an object of at most 40 tags as AWS allows them';
    expect(() => readDeploymentSettings({ tags })).toThrow(new SettingError('tags', rule));
  });

  const kept = { usersTableName: 'users-kept', auditTableName: 'audit-kept' };
  const streamOf = (table: string) =>
    `arn:aws:dynamodb:eu-west-1:123456789012:table/${table}/stream/2026-11-23T20:00:00.000`;

  it('reads the stream of an existing table', () => {
    const auditStreamArn = streamOf('audit-kept');

    expect(readDeploymentSettings({ ...kept, events: 'on', auditStreamArn })).toMatchObject({
      events: 'on',
      auditStreamArn,
    });
  });

  // biome-ignore format: a table
  it.each([
    [{ ...kept, events: 'on' }, 'events', 'requires auditStreamArn where auditTableName is given'],
    [{ ...kept, auditStreamArn: streamOf('audit-kept') }, 'auditStreamArn', 'requires that events is not off'],
    [{ ...kept, events: 'on', auditStreamArn: streamOf('other') }, 'auditStreamArn', 'must be the stream of the table auditTableName'],
    [{ events: 'on', auditStreamArn: streamOf('audit-kept') }, 'auditStreamArn', 'must be the stream of the table auditTableName'],
  ])('refuses %j, because the stream must belong to the table', (given, name, rule) => {
    expect(() => readDeploymentSettings(given)).toThrow(new SettingError(name, rule));
  });

  const chain = {
    auditArchiveBucketName: 'accounts-archive',
    auditSealKeyArn: 'arn:aws:kms:eu-west-1:123456789012:key/0a1b2c3d',
  };

  it('reads the bucket and the key of the chain of an existing table', () => {
    expect(readDeploymentSettings({ ...kept, ...chain, auditSeal: 'on' })).toMatchObject(chain);
  });

  it.each([
    [{ auditSeal: 'on', ...chain }, 'requires auditTableName and usersTableName'],
    [{ ...kept, ...chain }, 'requires that auditSeal is not off'],
    [
      { ...kept, auditSeal: 'on', auditArchiveBucketName: 'accounts-archive' },
      'requires auditSealKeyArn',
    ],
  ])('refuses %j, because a chain continues only with its own table and key', (given, rule) => {
    expect(() => readDeploymentSettings(given)).toThrow(
      new SettingError('auditArchiveBucketName', rule),
    );
  });

  it('refuses a log retention that CloudWatch does not know, and lists those that it knows', () => {
    const read = () => readDeploymentSettings({ logRetentionDays: '100' });

    expect(read).toThrow(/^Setting logRetentionDays must be one of 1, 3, 5, 7, 14, 30, 60, 90, /);
    expect(read).not.toThrow(/9999/);
  });

  it.each(['constructor', 'x', '', 'bcryptcost', 'SESSION_DAYS'])(
    'refuses the unknown setting %j',
    (name) => {
      expect(() => readDeploymentSettings({ [name]: 'x' })).toThrow(
        new SettingError(name, 'is unknown; infra/settings.md has all settings'),
      );
    },
  );

  it('ignores what the CDK keeps in the same context', () => {
    const context = {
      'aws:cdk:bundling-stacks': ['**'],
      '@aws-cdk/core:checkSecretUsage': true,
      'availability-zones:account=1:region=x': ['a'],
      'cli-telemetry': false,
      'acknowledged-issue-numbers': [1],
    };

    expect(readDeploymentSettings(context)).toEqual(readDeploymentSettings({}));
  });

  it.each([
    [{ domainName: 'accounts.example.com', certificateArn }],
    [{ usersTableName: 'users-restored', auditTableName: 'audit-restored' }],
  ])('requires the settings of %o together', (pair) => {
    expect(readDeploymentSettings(pair)).toMatchObject(pair);
    for (const [given, value] of Object.entries(pair)) {
      const missing = Object.keys(pair).find((name) => name !== given);
      expect(() => readDeploymentSettings({ [given]: value })).toThrow(
        `Setting ${given} requires ${missing}`,
      );
    }
  });
});

describe('The time for which entries are kept', () => {
  const sealed = { auditSeal: 'on' };

  it.each([
    [0, 365],
    [365, 365],
    [2555, 2555],
    [36_500, 2555],
  ])('in the archive, %d days, leads to a default lock of %d days', (days, locked) => {
    const given = { ...sealed, auditRetentionDays: 30, auditArchiveDays: days };
    expect(readDeploymentSettings(given).auditLockDays).toBe(locked);
  });

  it.each([
    [{ ...sealed, auditRetentionDays: 30 }],
    [{ ...sealed, auditRetentionDays: 90, auditArchiveDays: 90, auditLockDays: 90 }],
    [{ ...sealed, auditRetentionDays: 30, auditArchiveDays: 30, auditLockDays: 0 }],
  ])('may be %o', (given) => {
    expect(readDeploymentSettings(given)).toMatchObject(given);
  });

  // biome-ignore format: a table
  it.each([
    [{ auditRetentionDays: 30 }, 'auditRetentionDays must be 0, for ever, where auditSeal is off'],
    [{ auditSeal: 'paused', auditRetentionDays: 30 }, 'auditRetentionDays must be 0, for ever, where auditSeal is paused'],
    [{ stage: 'production', auditSeal: 'off', auditArchiveDays: 0 }, 'auditSeal must not be off in stage production'],
    [{ ...sealed, auditArchiveDays: 399 }, 'auditArchiveDays must not be below auditRetentionDays, which is 0, for ever'],
    [
      { ...sealed, auditRetentionDays: 30, auditArchiveDays: 364, auditLockDays: 365 },
      'auditArchiveDays must not be below auditLockDays, which is 365',
    ],
  ])('may not be %o', (given, message) => {
    expect(() => readDeploymentSettings(given)).toThrow(`Setting ${message}`);
  });
});

describe('functionVariables', () => {
  it.each([
    ['the default settings', {}],
    ['the settings of production', { stage: 'production' }],
    [
      'other settings',
      { mailFrom: 'a@example.com', resetUrl: 'https://a.example', bcryptCost: 14 },
    ],
  ])('gives functions the settings that they read: %s', (_, context) => {
    const settings = readDeploymentSettings(context);

    expect(settings).toMatchObject({ ...valuesIn(functionVariables(settings), serviceSettings) });
  });
});
