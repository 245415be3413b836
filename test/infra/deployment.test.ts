import { describe, expect, it } from 'vitest';
import { notices, readDeployment } from '../../infra/deployment.ts';
import { readDeploymentSettings, SettingError } from '../../infra/deployment-settings.ts';

/** All that the settings of a public service leave open. */
const chosen = {
  alarmEmail: 'operator@example.com',
  corsOrigins: 'https://app.example.com',
  domainName: 'accounts.example.com',
  certificateArn: 'arn:aws:acm:eu-west-1:123456789012:certificate/0a1b2c3d',
  mailFrom: 'accounts@example.com',
  resetUrl: 'https://app.example.com/reset',
  emailVerification: 'required',
  verifyUrl: 'https://app.example.com/verify',
};
const file = { stage: 'production', ...chosen };

type Given = Readonly<Record<string, unknown>>;

const said = (given: Given, context: Given = {}) =>
  notices(readDeploymentSettings({ ...given, ...context }), given, context);

describe('A deployment', () => {
  it('is development where none is named', () => {
    expect(readDeployment({})).toEqual({
      name: 'development',
      settings: { stage: 'development' },
      notices: [],
    });
  });

  it('has the settings of the file that -c name= chooses, and single ones of -c before them', () => {
    const { name, settings } = readDeployment({ name: 'production', passwordMinLength: '20' });

    expect(name).toBe('production');
    expect(settings).toEqual({ stage: 'production', passwordMinLength: '20' });
  });

  it.each([
    [
      { name: 'prod' },
      'name',
      'is prod, but infra/deployments/prod.json is missing; there are development, production',
    ],
    [{ name: '../app' }, 'name', 'must be up to 40 lower-case letters, digits and hyphens'],
    [{ name: '' }, 'name', 'must be up to 40 lower-case letters, digits and hyphens'],
    [
      { stage: 'production' },
      'stage',
      'stands in infra/deployments/development.json; choose a file by -c name=…',
    ],
  ])('is refused by %j', (context, name, rule) => {
    expect(() => readDeployment(context)).toThrow(new SettingError(name, rule));
  });
});

describe('Before a deployment', () => {
  it('of stage production it is said what its file leaves open', () => {
    expect(said({ stage: 'production' })).toEqual([
      'alarmEmail is not set: nobody will be notified of alarms',
      'corsOrigins is *: every page may call the API',
      'domainName is not set: the API has no host name of its own',
      'mailFrom is not set: no mails are sent, and nobody can reset a password',
      'emailVerification is off: users do not verify their addresses',
    ]);
  });

  it('it is said that entries are locked for a shorter time than they are kept', () => {
    expect(said({ ...file, auditArchiveDays: 2920, auditRetentionDays: 90 })).toEqual([
      'auditArchiveDays=2920 is more than auditLockDays=2555: after 2555 days whoever has the permission can delete entries from the archive',
    ]);
  });

  it('it is said which settings are not in its file', () => {
    expect(said(file, { docs: 'on', throttleRate: '2000', 'cli-telemetry': false })).toEqual([
      'for this run only, by -c or cdk.json: throttleRate=2000, docs=on',
    ]);
  });

  it.each([
    ['what the file says', file],
    [
      'alarms that go to a topic',
      {
        ...file,
        alarmEmail: undefined,
        alarmTopicArn: 'arn:aws:sns:eu-west-1:123456789012:alarms',
      },
    ],
    [
      'what the file does without',
      { ...file, mailFrom: '', resetUrl: '', verifyUrl: '', emailVerification: 'off' },
    ],
    ['stage development', { passwordMinLength: 1, auditSeal: 'on', auditRetentionDays: 30 }],
  ])('nothing is said of %s', (_, given) => {
    expect(said(given)).toEqual([]);
  });
});
