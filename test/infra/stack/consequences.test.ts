import { App, Stack } from 'aws-cdk-lib';
import { Annotations, Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { Accounts } from '../../../infra/stack/accounts.ts';
import { stackOf, withoutBundling } from './template.ts';

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
} as const;
const all = { stage: 'production', console: 'on', auditLockDays: 365, ...chosen };

/** The notes and warnings that the construct has for settings, without the ids by which they are acknowledged. */
const said = (settings: Readonly<Record<string, unknown>>) => saidOf(stackOf(settings));

const saidOf = (stack: Stack) => {
  const annotations = Annotations.fromStack(stack);
  return [
    ...annotations.findInfo('*', Match.anyValue()),
    ...annotations.findWarning('*', Match.anyValue()),
  ].map(({ entry }) => String(entry.data).replace(/ \[ack: accounts-service:\w+\]$/, ''));
};

describe('A service of stage production', () => {
  it('says what its settings leave open, and which choices cannot be undone', () => {
    expect(said({ stage: 'production' })).toEqual([
      'alarmEmail is not set: nobody will be notified of alarms',
      'corsOrigins is *: every page may call the API',
      'domainName is not set: the API has no host name of its own',
      'mailFrom is not set: no mails are sent, and nobody can reset a password',
      'emailVerification is off: users do not verify their addresses',
      'console is on: everybody can open its page, which shows nothing before a login',
      'auditLockDays is 365: for 365 days nobody, not even AWS, can delete a sealed entry; tables, keys and logs are protected, stay in their region, and outlive the stack; to try a deployment, set auditLockDays=0',
    ]);
  });

  it('says that entries are not locked', () => {
    expect(said({ ...all, auditLockDays: 0 })).toEqual([
      'auditLockDays is 0: a person with the permission can delete entries from the archive',
    ]);
  });

  it('says the same in an existing stack', () => {
    const app = new App({ context: withoutBundling, builtinCloudFormationValidation: false });
    const stack = new Stack(app, 'Shop');
    new Accounts(stack, 'Accounts', { stage: 'production', ...chosen, console: 'off' });

    expect(saidOf(stack)).toEqual([
      expect.stringMatching(/^auditLockDays is 365: for 365 days nobody/),
    ]);
  });

  it('says that entries are locked for a shorter time than they are kept', () => {
    const days = { auditArchiveDays: 2920, auditLockDays: 2555, auditRetentionDays: 90 };

    expect(said({ ...all, ...days })).toEqual([
      'auditArchiveDays=2920 is more than auditLockDays=2555: after 2555 days a person with the permission can delete entries from the archive',
    ]);
  });
});

// biome-ignore format: a table
it.each([
  ['settings that were chosen', all],
  ['alarms that go to a topic', { ...all, alarmEmail: undefined, alarmTopicArn: 'arn:aws:sns:eu-west-1:123456789012:alarms' }],
  ['features that the service does without', { ...all, mailFrom: '', resetUrl: '', verifyUrl: '', emailVerification: 'off' }],
  ['stage development', { passwordMinLength: 1, auditSeal: 'on', auditRetentionDays: 30 }],
])('No consequence is listed for %s', (_, settings) => {
  expect(said(settings)).toEqual([]);
});
