import { describe, expect, it } from 'vitest';
import { readDeploymentSettings } from '../../infra/deployment-settings.ts';
import { productionWarnings } from '../../infra/production-warnings.ts';

const certificateArn = 'arn:aws:acm:eu-west-1:123456789012:certificate/0a1b2c3d';

/** All that the settings of a public service leave open. */
const chosen = {
  alarmEmail: 'operator@example.com',
  corsOrigins: 'https://app.example.com',
  domainName: 'accounts.example.com',
  certificateArn,
  mailFrom: 'accounts@example.com',
  resetUrl: 'https://app.example.com/reset',
  emailVerification: 'required',
  verifyUrl: 'https://app.example.com/verify',
};

/** infra/production.json, in which somebody has written everything. */
const complete = {
  ...chosen,
  v1Users: 'off',
  docs: 'off',
  console: 'off',
  auditSeal: 'on',
  accounts: 'private',
  passwordMinLength: 15,
  bcryptCost: 12,
  loginFailuresPerAddress: 100,
  registrationsPerAddress: 20,
  sessionDays: 90,
  auditDetail: 'full',
};

type Given = Readonly<Record<string, unknown>>;

const warnings = (given: Given, file: Given = complete, stage = 'production') =>
  productionWarnings(readDeploymentSettings({ stage, ...given }, file), file);

const without = (...names: readonly (keyof typeof chosen)[]): Given =>
  Object.fromEntries(Object.entries(complete).filter(([name]) => !names.includes(name as never)));

describe('Before a deployment of stage production,', () => {
  it.each([
    [['alarmEmail'], 'alarmEmail is not set: nobody will be notified of alarms'],
    [['corsOrigins'], 'corsOrigins is *: every page may call the API'],
    [
      ['domainName', 'certificateArn'],
      'domainName is not set: the API has no host name of its own',
    ],
    [
      ['emailVerification', 'verifyUrl'],
      'emailVerification is off: users do not verify their addresses',
    ],
  ] as const)('it is said that there is no %j', (names, warning) => {
    expect(warnings({}, without(...names))).toEqual([`production: ${warning}`]);
  });

  it('everything is named that was perhaps given by a -c that is forgotten now', () => {
    const file = without(...(Object.keys(chosen) as (keyof typeof chosen)[]));

    expect(warnings({}, file)).toEqual([
      'production: alarmEmail is not set: nobody will be notified of alarms',
      'production: corsOrigins is *: every page may call the API',
      'production: domainName is not set: the API has no host name of its own',
      'production: mailFrom is not set: no mails are sent, and nobody can reset a password',
      'production: emailVerification is off: users do not verify their addresses',
    ]);
  });

  it('everything is named that the next one would lose without -c, whether it has a default or not', () => {
    const file = without('alarmEmail', 'mailFrom', 'resetUrl', 'emailVerification', 'verifyUrl');
    const { alarmEmail, mailFrom, resetUrl, emailVerification, verifyUrl } = chosen;
    const mails = { mailFrom, resetUrl, emailVerification, verifyUrl };

    expect(
      warnings({ alarmEmail, ...mails, throttleRate: 2000, passwordMinLength: 20 }, file),
    ).toEqual([
      'production: the next deployment loses what is not in infra/production.json, unless -c gives it again: alarmEmail, throttleRate, passwordMinLength, mailFrom, resetUrl, emailVerification, verifyUrl',
    ]);
  });

  it('it is said that entries are locked for a shorter time than they are kept', () => {
    expect(warnings({}, { ...complete, auditArchiveDays: 2555, auditRetentionDays: 90 })).toEqual([
      'production: auditArchiveDays=2555 is more than auditLockDays=365: after 365 days whoever has the permission can delete entries from the archive',
    ]);
  });

  it.each([
    ['what the file says', {}, complete],
    ['what -c repeats', { passwordMinLength: '15', mailFrom: chosen.mailFrom }, complete],
    [
      'what the file does without',
      {},
      { ...without('resetUrl', 'verifyUrl'), mailFrom: '', emailVerification: 'off' },
    ],
    [
      'an archive that is locked as long as it is kept',
      {},
      { ...complete, auditArchiveDays: 400, auditLockDays: 400, auditRetentionDays: 90 },
    ],
  ])('nothing is said of %s', (_, given, file) => {
    expect(warnings(given, file)).toEqual([]);
  });

  it('nothing is said of other stages', () => {
    expect(warnings({ passwordMinLength: 1, auditSeal: 'on' }, complete, 'development')).toEqual(
      [],
    );
  });
});
