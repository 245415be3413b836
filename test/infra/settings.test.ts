import { describe, expect, it } from 'vitest';
import { SettingError } from '../../infra/setting-rules.ts';
import { functionVariables, readSettings } from '../../infra/settings.ts';
import { configFrom } from '../../lib/config.ts';

const certificateArn = 'arn:aws:acm:eu-west-1:123456789012:certificate/0a1b2c3d';

describe('readSettings', () => {
  it('has a default for every setting', () => {
    expect(readSettings({})).toEqual({
      stage: 'development',
      corsOrigins: ['*'],
      alarmEmail: undefined,
      domainName: undefined,
      certificateArn: undefined,
      logRetentionDays: 90,
      throttleRate: 500,
      throttleBurst: 1000,
      credentialsThrottleRate: 50,
      credentialsThrottleBurst: 100,
      v1Users: 'on',
      v1ReservedConcurrency: 1,
      loginAnswers: 'distinct',
      userDirectory: 'open',
      passwordMinLength: 1,
      bcryptCost: 10,
      loginFailuresPerAccount: 10,
      loginFailuresPerAddress: 100,
      registrationsPerAddress: 0,
    });
  });

  it.each([
    ['stage', 'production', 'production'],
    ['corsOrigins', 'https://a.example', ['https://a.example']],
    [
      'corsOrigins',
      'https://a.example, http://localhost:5173',
      ['https://a.example', 'http://localhost:5173'],
    ],
    ['alarmEmail', 'operator@example.com', 'operator@example.com'],
    ['logRetentionDays', '365', 365],
    ['throttleRate', '2000', 2000],
    ['v1Users', 'off', 'off'],
    ['v1ReservedConcurrency', '5', 5],
    ['v1ReservedConcurrency', 'none', undefined],
    ['loginAnswers', 'uniform', 'uniform'],
    ['userDirectory', 'closed', 'closed'],
    ['passwordMinLength', '12', 12],
    ['bcryptCost', 12, 12],
    ['loginFailuresPerAccount', '0', 0],
  ])('reads %s from %o', (name, given, expected) => {
    expect(readSettings({ [name]: given })).toHaveProperty(name, expected);
  });

  const aWholeNumber = (from: number, to: number) => `must be a whole number from ${from} to ${to}`;
  const origins = 'must be * or a comma-separated list of origins such as https://app.example.com';

  it.each([
    ['stage', 'prod', 'must be one of development, production'],
    ['stage', '', 'must be one of development, production'],
    ['corsOrigins', '', origins],
    ['corsOrigins', 'app.example.com', origins],
    ['corsOrigins', 'https://app.example.com/', origins],
    ['corsOrigins', 'https://*.example.com', origins],
    ['corsOrigins', '*,https://app.example.com', origins],
    ['corsOrigins', ['https://app.example.com'], 'must be text or a number'],
    ['alarmEmail', 'operator', 'must be an email address'],
    [
      'domainName',
      'https://accounts.example.com',
      'must be a host name in lower case such as accounts.example.com',
    ],
    [
      'certificateArn',
      'accounts.example.com',
      'must be the ARN of a certificate in AWS Certificate Manager',
    ],
    ['throttleRate', '0', aWholeNumber(1, 100_000)],
    ['throttleBurst', '1.5', aWholeNumber(1, 100_000)],
    ['credentialsThrottleRate', '-1', aWholeNumber(1, 100_000)],
    ['credentialsThrottleBurst', '1e3', aWholeNumber(1, 100_000)],
    ['v1Users', true, 'must be one of on, off'],
    ['v1ReservedConcurrency', '0', 'must be none or a whole number from 1 to 999'],
    ['loginAnswers', 'same', 'must be one of distinct, uniform'],
    ['userDirectory', 'hidden', 'must be one of open, closed'],
    ['passwordMinLength', '256', aWholeNumber(1, 255)],
    ['bcryptCost', '9', aWholeNumber(10, 14)],
    ['bcryptCost', null, 'must be text or a number'],
    ['loginFailuresPerAccount', 'ten', aWholeNumber(0, 1_000_000)],
    ['loginFailuresPerAddress', '1000001', aWholeNumber(0, 1_000_000)],
    ['registrationsPerAddress', '-1', aWholeNumber(0, 1_000_000)],
  ])('refuses %s %o and says the rule', (name, given, rule) => {
    expect(() => readSettings({ [name]: given })).toThrow(new SettingError(name, rule));
    expect(new SettingError(name, rule).message).toBe(`Setting ${name} ${rule}`);
  });

  it('refuses a log retention that CloudWatch does not know, and lists those that it knows', () => {
    const read = () => readSettings({ logRetentionDays: '100' });

    expect(read).toThrow(/^Setting logRetentionDays must be one of 1, 3, 5, 7, 14, 30, 60, 90, /);
    expect(read).not.toThrow(/9999/);
  });

  it.each(['bcryptcost', 'login-answers', 'alarm_email', 'constructor'])(
    'refuses the unknown setting %s and lists the known ones',
    (name) => {
      expect(() => readSettings({ [name]: 'x' })).toThrow(
        new RegExp(
          `^Setting ${name} is unknown; the settings are stage, corsOrigins, .*bcryptCost`,
        ),
      );
    },
  );

  it('leaves alone what the CDK keeps in the same context', () => {
    const context = {
      'aws:cdk:bundling-stacks': ['**'],
      '@aws-cdk/core:checkSecretUsage': true,
      'availability-zones:account=1:region=x': ['a'],
      'cli-telemetry': false,
      'acknowledged-issue-numbers': [1],
    };

    expect(readSettings(context)).toEqual(readSettings({}));
  });

  it('takes a domain name and a certificate together only', () => {
    const domainName = 'accounts.example.com';

    expect(readSettings({ domainName, certificateArn })).toMatchObject({
      domainName,
      certificateArn,
    });
    expect(() => readSettings({ domainName })).toThrow(
      'Setting certificateArn must be given together with domainName',
    );
    expect(() => readSettings({ certificateArn })).toThrow(
      'Setting domainName must be given together with certificateArn',
    );
  });
});

describe('functionVariables', () => {
  it.each([
    ['the defaults', {}],
    [
      'the least of everything',
      {
        passwordMinLength: 1,
        bcryptCost: 10,
        loginFailuresPerAccount: 0,
        loginFailuresPerAddress: 0,
        registrationsPerAddress: 0,
      },
    ],
    [
      'the most of everything',
      {
        loginAnswers: 'uniform',
        userDirectory: 'closed',
        passwordMinLength: 255,
        bcryptCost: 14,
        loginFailuresPerAccount: 1_000_000,
        loginFailuresPerAddress: 1_000_000,
        registrationsPerAddress: 1_000_000,
      },
    ],
  ])('gives functions %s as they read them', (_, context) => {
    const settings = readSettings(context);

    const config = configFrom({
      ...functionVariables(settings),
      USERS_TABLE: 'users',
      AUDIT_TABLE: 'audit',
    });

    for (const name of [
      'bcryptCost',
      'loginAnswers',
      'loginFailuresPerAccount',
      'loginFailuresPerAddress',
      'passwordMinLength',
      'registrationsPerAddress',
      'userDirectory',
    ] as const) {
      expect(config[name]).toBe(settings[name]);
    }
  });
});
