import { describe, expect, it } from 'vitest';
import { notices, placeIn, readDeployment } from '../../infra/deployment.ts';
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
const file = { stage: 'production', console: 'on', auditLockDays: 365, ...chosen };

type Given = Readonly<Record<string, unknown>>;

const said = (given: Given, context: Given = {}) =>
  notices(readDeploymentSettings({ ...given, ...context }), given, context);

describe('A deployment', () => {
  it('is development where none is named', () => {
    expect(readDeployment({})).toEqual({
      name: 'development',
      place: {},
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
    [
      { account: '123456789012' },
      'account',
      'stands in infra/deployments/development.json; choose a file by -c name=…',
    ],
  ])('is refused by %j', (context, name, rule) => {
    expect(() => readDeployment(context)).toThrow(new SettingError(name, rule));
  });
});

describe('The file of a deployment', () => {
  const place = { account: '123456789012', region: 'eu-west-1' };

  it('says to which account and region its stack belongs, whatever the credentials of none say', () => {
    expect(placeIn({ stage: 'production', ...place }, undefined)).toEqual(place);
    expect(placeIn({ stage: 'production', ...place }, place.account)).toEqual(place);
    expect(placeIn({ stage: 'production', region: 'us-gov-west-1' }, '1')).toEqual({
      region: 'us-gov-west-1',
    });
  });

  it.each([
    [{ account: '12345' }, 'account', 'must be the 12 digits of an AWS account, as text'],
    [{ region: 'Ireland' }, 'region', 'must be a region of AWS such as eu-west-1'],
    [place, 'account', 'is 123456789012, but the credentials are of 210987654321'],
  ])('is refused where it has %j', (file, name, rule) => {
    expect(() => placeIn(file, '210987654321')).toThrow(new SettingError(name, rule));
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
      'console is on: everybody can open its page, which shows nothing before a login',
      'auditLockDays is 365: nobody can undo that what is sealed stays for 365 days, not even AWS; tables, keys and logs are protected, and outlive the stack; to try it, give auditLockDays=0',
    ]);
  });

  it('it is said that entries are not locked', () => {
    expect(said(file, { auditLockDays: '0' })).toEqual([
      'auditLockDays is 0: whoever has the permission can delete entries from the archive',
      'for this run only, by -c or cdk.json: auditLockDays=0',
    ]);
  });

  it('it is said that entries are locked for a shorter time than they are kept', () => {
    const days = { auditArchiveDays: 2920, auditLockDays: 2555, auditRetentionDays: 90 };

    expect(said({ ...file, ...days })).toEqual([
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
