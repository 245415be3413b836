import { describe, expect, it, vi } from 'vitest';
import {
  type Config,
  ConfigError,
  configFrom,
  sendsMail,
  settings,
  valuesIn,
} from '../../../lib/ground/settings.ts';

type Name = keyof Config;

/** Each with its variable, its bounds and its default. */
const numbers: readonly [Name, string, number, number, number][] = [
  ['passwordMinLength', 'PASSWORD_MIN_LENGTH', 1, 255, 1],
  ['bcryptCost', 'BCRYPT_COST', 4, 16, 10],
  ['loginFailuresPerAccount', 'LOGIN_FAILURES_PER_ACCOUNT', 0, 1_000_000, 10],
  ['loginFailuresPerAddress', 'LOGIN_FAILURES_PER_ADDRESS', 0, 1_000_000, 1000],
  ['registrationsPerAddress', 'REGISTRATIONS_PER_ADDRESS', 0, 1_000_000, 0],
  ['sessionDays', 'SESSION_DAYS', 0, 400, 0],
  ['sessionIdleDays', 'SESSION_IDLE_DAYS', 1, 400, 30],
  ['tokenMinutes', 'TOKEN_MINUTES', 5, 1440, 1440],
  ['auditSealInterval', 'AUDIT_SEAL_INTERVAL', 1, 86_400, 300],
];

/** Each with its variable and its smallest number besides 0, which is the default. */
const days: readonly [Name, string, number][] = [
  ['auditRetentionDays', 'AUDIT_RETENTION_DAYS', 30],
  ['auditArchiveDays', 'AUDIT_ARCHIVE_DAYS', 1],
  ['auditLockDays', 'AUDIT_LOCK_DAYS', 1],
];

/** Each with its variable and its values, the default first. */
const choices: readonly [Name, string, readonly string[]][] = [
  ['accounts', 'ACCOUNTS', ['open', 'private']],
  ['tokenSigning', 'TOKEN_SIGNING', ['HS256', 'RS256']],
  ['selfDeletion', 'SELF_DELETION', ['off', 'on']],
  ['secondFactor', 'SECOND_FACTOR', ['off', 'optional', 'admins']],
  ['emailVerification', 'EMAIL_VERIFICATION', ['off', 'on', 'required']],
  ['mailLanguage', 'MAIL_LANGUAGE', ['en', 'de']],
  ['auditDetail', 'AUDIT_DETAIL', ['standard', 'full']],
  ['auditSeal', 'AUDIT_SEAL', ['on', 'paused', 'off']],
  ['v1Users', 'V1_USERS', ['on', 'off']],
  ['docs', 'DOCS', ['on', 'off']],
  ['console', 'CONSOLE', ['on', 'off']],
];

/** Any text, without a default. */
const texts: readonly [Name, string][] = [
  ['usersTable', 'USERS_TABLE'],
  ['auditTable', 'AUDIT_TABLE'],
  ['staticFiles', 'STATIC_FILES'],
];

/** Text that is none by default. */
const optional: readonly [Name, string][] = [
  ['mailFrom', 'MAIL_FROM'],
  ['identityProviders', 'IDENTITY_PROVIDERS'],
  ['productName', 'PRODUCT_NAME'],
  ['resetUrl', 'RESET_URL'],
  ['verifyUrl', 'VERIFY_URL'],
  ['mailFunctionUrl', 'MAIL_FUNCTION_URL'],
  ['secondFactorKey', 'SECOND_FACTOR_KEY'],
  ['secondFactorLocalKey', 'SECOND_FACTOR_LOCAL_KEY'],
  ['kmsUrl', 'KMS_URL'],
  ['tokenIssuer', 'TOKEN_ISSUER'],
  ['tokenAudience', 'TOKEN_AUDIENCE'],
  ['tokenSigningKey', 'TOKEN_SIGNING_KEY'],
  ['tokenKeys', 'TOKEN_KEYS'],
  ['apiUrl', 'API_URL'],
  ['auditArchiveBucket', 'AUDIT_ARCHIVE_BUCKET'],
  ['auditArchiveFolder', 'AUDIT_ARCHIVE_FOLDER'],
  ['auditSealKey', 'AUDIT_SEAL_KEY'],
  ['eventsUrl', 'EVENTS_URL'],
  ['eventBus', 'EVENT_BUS'],
  ['eventSource', 'EVENT_SOURCE'],
  ['refusedEventsQueueUrl', 'REFUSED_EVENTS_QUEUE_URL'],
];

const refusalOf = (read: () => unknown): string => {
  try {
    return `accepted ${read()}`;
  } catch (error) {
    return error instanceof ConfigError ? error.message : String(error);
  }
};

const refusal = (setting: Name, env: Record<string, string>) =>
  refusalOf(() => configFrom(env)[setting]);

describe('A number among the settings', () => {
  it.each(numbers)('%s is read from %s, within its bounds', (setting, variable, ...expected) => {
    const [minimum, maximum, standard] = expected;

    expect(configFrom({ [variable]: String(minimum) })[setting]).toBe(minimum);
    expect(configFrom({ [variable]: String(maximum) })[setting]).toBe(maximum);
    expect(configFrom({})[setting]).toBe(standard);
    expect(configFrom({ [variable]: '' })[setting]).toBe(standard);
    for (const value of [minimum - 1, maximum + 1]) {
      expect(refusal(setting, { [variable]: String(value) })).toBe(
        `Environment variable ${variable} must be a whole number from ${minimum} to ${maximum}`,
      );
    }
  });

  it.each([
    '1e1',
    '0x5',
    ' 5',
    '5 ',
    '5.0',
    '+5',
    '-5',
    'five',
    'NaN',
    'undefined',
    '٥',
    '9'.repeat(400),
  ])('is refused when it is not written in digits: %j', (value) => {
    expect(refusal('bcryptCost', { BCRYPT_COST: value })).toBe(
      'Environment variable BCRYPT_COST must be a whole number from 4 to 16',
    );
  });
});

describe('A number of days among the settings', () => {
  it.each(days)('%s is read from %s, and 0 means for ever', (setting, variable, least) => {
    for (const value of [0, least, 36_500]) {
      expect(configFrom({ [variable]: String(value) })[setting]).toBe(value);
    }
    expect(configFrom({})[setting]).toBe(0);
    for (const value of [least - 1 || '00', 36_501, '-0', '1e2', 'never']) {
      expect(refusal(setting, { [variable]: String(value) })).toBe(
        `Environment variable ${variable} must be 0, or a whole number from ${least} to 36500`,
      );
    }
  });
});

describe('A choice among the settings', () => {
  it.each(choices)('%s is read from %s, and is by default the first', (setting, variable, all) => {
    for (const value of all) expect(configFrom({ [variable]: value })[setting]).toBe(value);
    expect(configFrom({})[setting]).toBe(all[0]);
    expect(configFrom({ [variable]: '' })[setting]).toBe(all[0]);
    for (const value of ['hunter2', 'constructor', all.join(), ` ${all[0]}`]) {
      expect(refusal(setting, { [variable]: value })).toBe(
        `Environment variable ${variable} must be one of ${all.join(', ')}`,
      );
    }
  });
});

describe('A text among the settings', () => {
  it.each(texts)('%s is read from %s, which must be set', (setting, variable) => {
    expect(configFrom({ [variable]: 'any text' })[setting]).toBe('any text');
    for (const env of [{}, { [variable]: '' }]) {
      expect(refusal(setting, env)).toBe(`Environment variable ${variable} is not set`);
    }
  });

  it.each(optional)('%s is none unless %s is set', (setting, variable) => {
    expect(configFrom({})[setting]).toBe('');
    expect(configFrom({ [variable]: '' })[setting]).toBe('');
  });
});

describe('A setting of mails', () => {
  const sound = { MAIL_FROM: 'accounts@example.com', RESET_URL: 'https://app.example.com/reset' };

  it.each([
    ['accounts@example.com', 'https://app.example.com'],
    ['no-reply+x@mail.example.com', 'https://app.example.com:8443/a/b?c=d'],
    ['a@localhost', 'http://localhost:8080/reset'],
    ['a@localhost', 'http://127.0.0.1/'],
    ['a@localhost', 'http://[::1]:8080/'],
    ['a@b', 'https://b'],
    ['My App <no-reply@example.com>', 'https://b'],
    ["Müller & Co.'s <a@b>", 'https://b'],
    [`${'x'.repeat(45)} <a@b>`, 'https://b'],
  ])('is taken as it is: %s, %s', (from, url) => {
    const { mailFrom, resetUrl } = configFrom({ MAIL_FROM: from, RESET_URL: url });

    expect([mailFrom, resetUrl]).toEqual([from, url]);
  });

  it.each([
    'nobody',
    '@example.com',
    'a@',
    'a@b@c',
    ' <a@b>',
    'My App<a@b>',
    'My App  <a@b>',
    'My App <a@b> ',
    'My App <a@b>, c@d',
    'My App <c@d> <a@b>',
    'My, App <a@b>',
    '"My App" <a@b>',
    'My\r\nBcc: c@d <a@b>',
    `${'ü'.repeat(23)} <a@b>`,
    'a@b,c@d',
    'a b@c',
    'a@b\r\nBcc: c@d',
    'a@example.com ',
    'ä@example.com',
    '<a@example.com>',
    'a@-example.com',
    'a@example.com-',
    'a@.example.com',
    'a@example_com',
  ])('is refused as MAIL_FROM: %j', (from) => {
    expect(refusal('mailFrom', { ...sound, MAIL_FROM: from })).toBe(
      'Environment variable MAIL_FROM must be an email address, or a name and one as in My App <no-reply@example.com>',
    );
  });

  it.each([
    'app.example.com',
    '/reset',
    'http://app.example.com/',
    'ftp://localhost/',
    'javascript:1',
    'https://app.example.com/#',
    'https://app.example.com/#a',
    'https://u:p@example.com/',
    'https://app.example.com/ x',
    'https://app.exa\nmple.com/',
    ' https://app.example.com',
    'http://localhost.example.com/',
    'https://',
    'data:text/html,x',
    'https:x.org/r',
    'https:\\\\x.org\\r',
    'https:///x.org/r',
    'https://x.org\\r',
    '\u0001https://x.org/r',
    'https://x.org/\u202er',
    'https://x.org/\u007f',
    'https://ä.org/',
  ])('is refused as RESET_URL: %j', (url) => {
    expect(refusal('resetUrl', { ...sound, RESET_URL: url })).toBe(
      'Environment variable RESET_URL must be an https URL without fragment, or an http one of localhost',
    );
  });

  it.each(['My App', 'Müller & Co.', "Ada's", 'x'.repeat(60)])('is a name: %j', (name) => {
    expect(configFrom({ PRODUCT_NAME: name }).productName).toBe(name);
  });

  it.each([' ', 'a ', 'a:b', 'a\nb', 'a\u202eb', '<b>', 'a@b', 'x'.repeat(61)])(
    'is no name: %j',
    (name) => {
      expect(refusal('productName', { PRODUCT_NAME: name })).toMatch(/must be a name/);
    },
  );

  it.each([
    ['a@example.com', 'https://app.example.com', true],
    ['a@example.com', '', false],
    ['', 'https://app.example.com', false],
    ['', '', false],
  ])('turns mails on only together with the other one: %j, %j: %s', (mailFrom, resetUrl, sent) => {
    expect(sendsMail({ mailFrom, resetUrl })).toBe(sent);
  });
});

describe('The setting of identity providers', () => {
  const google = { issuer: 'https://accounts.google.com', audiences: ['app'] };

  it.each([
    [[google]],
    [[google, { issuer: 'http://localhost:4000/a', audiences: ['x', 'y'] }]],
    [
      [
        {
          ...google,
          issuer: 'https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0',
        },
      ],
    ],
  ])('is a list of issuers with their audiences: %j', (list) => {
    const IDENTITY_PROVIDERS = JSON.stringify(list);

    expect(configFrom({ IDENTITY_PROVIDERS }).identityProviders).toBe(IDENTITY_PROVIDERS);
  });

  it('says that http works on this machine, that each issuer stands once, and that a tenant of Entra ID has an issuer of its own', () => {
    expect(refusal('identityProviders', { IDENTITY_PROVIDERS: '[]' })).toMatch(
      /an https URL, or an http one of localhost, .+, each issuer once; of Entra ID a tenant's own issuer, not common, organizations or consumers$/,
    );
  });

  it.each([
    [],
    {},
    'google',
    [null],
    ['https://accounts.google.com'],
    [{ ...google, issuer: 'http://accounts.google.com' }],
    [{ ...google, issuer: 'accounts.google.com' }],
    [{ ...google, issuer: 'https://a.example/#b' }],
    [{ ...google, issuer: 'https://a.example/?b' }],
    [{ ...google, issuer: `https://a.example/${'a'.repeat(240)}` }],
    [{ issuer: google.issuer }],
    [{ ...google, audiences: [] }],
    [{ ...google, audiences: 'app' }],
    [{ ...google, audiences: [''] }],
    [{ ...google, clientSecret: 'x' }],
    [google, { ...google, audiences: ['other'] }],
    [google, { ...google, issuer: 'https://ACCOUNTS.google.com/' }],
    ...['common', 'organizations', 'consumers', 'Common'].map((tenant) => [
      { ...google, issuer: `https://login.microsoftonline.com/${tenant}/v2.0` },
    ]),
    [{ ...google, issuer: 'https://login.microsoftonline.us/common/v2.0/' }],
  ])('is not %j', (list) => {
    expect(refusal('identityProviders', { IDENTITY_PROVIDERS: JSON.stringify(list) })).toMatch(
      /IDENTITY_PROVIDERS must be a JSON list of/,
    );
  });
});

describe('configFrom', () => {
  it('reads the settings that these tests cover, and no others', () => {
    const covered = [numbers, days, choices, texts, optional].flat().map(([setting]) => setting);

    expect(Object.keys(configFrom({})).sort()).toEqual(covered.sort());
    expect(Object.keys(settings).sort()).toEqual(covered);
  });

  it('never repeats a refused value, which may be a secret in the wrong place', () => {
    for (const [setting, variable] of [numbers, days, choices].flat()) {
      expect(refusal(setting, { [variable]: 'hunter2' })).not.toContain('hunter2');
    }
  });

  it('requires a setting only when it is read', () => {
    const config = configFrom({ USERS_TABLE: 'users', BCRYPT_COST: 'nonsense' });

    expect(config.usersTable).toBe('users');
    expect(() => config.bcryptCost).toThrow(ConfigError);
    expect(() => config.auditTable).toThrow(ConfigError);
  });

  it('checks a text once, however often its setting is used', () => {
    const isAllowed = vi.fn(() => true);
    const values = valuesIn({ NAME: 'Ada' }, { name: { allowed: { rule: 'text', isAllowed } } });

    expect([values.name, values.name]).toEqual(['Ada', 'Ada']);
    expect(isAllowed).toHaveBeenCalledOnce();
  });

  it('uses the text that the environment has now', () => {
    const env = { BCRYPT_COST: '5' };
    const config = configFrom(env);

    const first = config.bcryptCost;
    env.BCRYPT_COST = '6';

    expect([first, config.bcryptCost]).toEqual([5, 6]);
  });
});
